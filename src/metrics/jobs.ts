import { Counter, Histogram } from 'prom-client'
import { MeasuredGauge } from './measured.ts'
import { registry } from './registry.ts'

const registers = [registry]
const jobSecondsBuckets = [0.005, 0.025, 0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1_800]

/** Tries of jobs in this process, by their end. */
export const jobRuns = new Counter({
  name: 'feedline_job_runs_total',
  help: 'Tries of jobs by outcome: done, unfinished, paused, retried, parked, handed_back or left',
  labelNames: ['kind', 'outcome'],
  registers,
})

/** Durations of tries. */
export const jobRunSeconds = new Histogram({
  name: 'feedline_job_run_seconds',
  help: 'Time of one try of a job',
  labelNames: ['kind'],
  buckets: jobSecondsBuckets,
  registers,
})

/** Time from the commit of a mutation to the end of its job. */
export const jobLagSeconds = new Histogram({
  name: 'feedline_job_lag_seconds',
  help: 'Time from the write that made a job to the end of the job. For post.created: the delivery lag',
  labelNames: ['kind'],
  buckets: jobSecondsBuckets,
  registers,
})

/** Jobs of the database. */
export const jobs = new MeasuredGauge({
  name: 'feedline_jobs',
  help: 'Jobs of the database by state. Counts 10,000 waiting or running jobs and 1,000 parked jobs at most',
  labelNames: ['kind', 'state'],
})

/** Ages of the oldest jobs of the database. */
export const jobsOldestSeconds = new MeasuredGauge({
  name: 'feedline_jobs_oldest_seconds',
  help: 'Age of the oldest job of the database by state',
  labelNames: ['kind', 'state'],
})
