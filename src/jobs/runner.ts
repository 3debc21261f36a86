import type { Log } from '../log.ts'
import { jobLagSeconds, jobRunSeconds, jobRuns } from '../metrics/jobs.ts'
import { runInJob } from '../request-scope.ts'
import { endSpan, runInSpan, startSpan } from '../tracing/spans.ts'
import { Lease, type Run } from './lease.ts'
import { type Job, type JobQueue, LeaseLost } from './queue.ts'

/** A task has to wait: its job is due again after this time. */
export interface Pause {
  /**
   * In milliseconds. Below 0, the job is due at once, before jobs that have waited for a shorter
   * time.
   */
  readonly continuesInMs: number
  /** Whether the task has inserted jobs that are due now. Default: false. */
  readonly insertedJobs?: boolean
}

/**
 * Runs one kind of job. It may be interrupted anywhere and run again from its last checkpoint; the
 * repeat must change nothing. A task that returns after its signal aborted counts as not done. A
 * long task returns `unfinished` at times, after a save: the job is due again after the jobs that
 * are due already, so that long jobs take turns. A task that has to wait returns a pause, and holds
 * no slot until then.
 */
export interface Task {
  // biome-ignore lint/suspicious/noConfusingVoidType: most tasks have nothing to say
  (payload: Job['payload'], run: Run): Promise<void | 'unfinished' | Pause>
  /** Number of jobs of this kind that share one slot of a worker. Default: 1. */
  readonly batchSize?: number
}

/** A task for each kind of job. */
export type Tasks = Readonly<Record<string, Task>>

type Outcome = 'done' | 'unfinished' | Pause | { readonly error: unknown }

/**
 * How a try ended, as `feedline_job_runs_total` names it. A job that is `left` is due when its
 * lease ends.
 */
type Settled = 'done' | 'unfinished' | 'paused' | 'retried' | 'parked' | 'handed_back'

/** Runs leased jobs: those that a worker claimed, and those that run inline. */
export class JobRunner {
  private readonly leases = new Set<Lease>()

  constructor(
    private readonly queue: JobQueue,
    private readonly tasks: Tasks,
    private readonly log: Log,
  ) {}

  /**
   * Runs a job once and completes, releases or fails it. Never throws: if that fails too, the job
   * is due when its lease runs out.
   * @returns whether a job is due at once: this one, because it is unfinished, or others that its
   *   task inserted.
   */
  async run(job: Job, inline = false): Promise<boolean> {
    const kind = this.kindOf(job)
    const span = this.startSpan(job, inline)
    return runInJob(() => runInSpan(span && { span }, () => this.runAs(kind, job, inline, span)))
  }

  private kindOf({ kind }: Job): string {
    return Object.hasOwn(this.tasks, kind) ? kind : 'other'
  }

  private startSpan(job: Job, inline: boolean) {
    const kind = this.kindOf(job)
    return startSpan(`job ${kind}`, {
      kind: 'CONSUMER',
      attributes: {
        ...attributesOf(job),
        'feedline.job.kind': kind,
        'feedline.job.inline': inline,
      },
      parent: job.traceparent,
    })
  }

  private logLeft(job: Job, inline: boolean, error: unknown): void {
    const fields = { ...fieldsOf(job), err: error }
    // The transaction of a repeated mutation does not commit, so its job never existed.
    if (inline && error instanceof LeaseLost)
      this.log.debug(fields, 'job does not exist, or runs in another process')
    else this.log.warn(fields, 'job left until its lease ends')
  }

  private async runAs(kind: string, job: Job, inline: boolean, span: JobSpan): Promise<boolean> {
    const lease = new Lease(this.queue, job, inline)
    this.leases.add(lease)
    const endTimer = jobRunSeconds.startTimer({ kind })
    let outcome = 'left'
    try {
      const result = await this.outcomeOf(lease)
      outcome = await this.settle(lease, result)
      if (outcome === 'done') jobLagSeconds.observe({ kind }, this.queue.ageMs(job) / 1000)
      return outcome === 'unfinished' || hasInsertedJobs(result)
    } catch (error) {
      this.logLeft(job, inline, error)
      return false
    } finally {
      endTimer()
      jobRuns.inc({ kind, outcome })
      span?.setAttribute('feedline.job.outcome', outcome)
      endSpan(span, outcome === 'retried' || outcome === 'parked' ? outcome : undefined)
      lease.end()
      this.leases.delete(lease)
    }
  }

  /** Aborts all running tasks and hands their jobs back. */
  abort(reason: Error): void {
    for (const lease of this.leases) lease.abort(reason)
  }

  private async outcomeOf(lease: Lease): Promise<Outcome> {
    const { kind, payload, attempts } = lease.job
    try {
      const task = Object.hasOwn(this.tasks, kind) ? this.tasks[kind] : undefined
      if (!task) throw new Error(`no task for jobs of kind "${kind}"`)
      if (attempts > this.queue.attemptsMax) throw new Error('no attempt of the job finished')
      return (await Promise.race([task(payload, lease), lease.abandoned()])) ?? 'done'
    } catch (error) {
      return { error }
    }
  }

  private async settle(lease: Lease, outcome: Outcome): Promise<Settled> {
    const { job } = lease
    if (lease.signal.aborted) {
      await this.queue.release(job)
      this.log.info(fieldsOf(job), 'job handed back')
      return 'handed_back'
    }
    if (outcome === 'unfinished') {
      await this.queue.release(job)
      return 'unfinished'
    }
    if (outcome === 'done') {
      await this.queue.complete(job)
      return 'done'
    }
    if ('continuesInMs' in outcome) {
      await this.queue.release(job, outcome.continuesInMs)
      return outcome.continuesInMs < 0 ? 'unfinished' : 'paused'
    }
    this.log.error({ ...fieldsOf(job), err: outcome.error }, 'job failed')
    if (!(await this.queue.fail(job, outcome.error))) return 'retried'
    this.log.error(fieldsOf(job), 'job parked')
    return 'parked'
  }
}

const hasInsertedJobs = (outcome: Outcome): boolean =>
  typeof outcome === 'object' && 'insertedJobs' in outcome && outcome.insertedJobs === true

type JobSpan = ReturnType<typeof startSpan>

const attributesOf = ({ id, attempts }: Job) => ({
  'feedline.job.id': id,
  'feedline.job.attempts': attempts,
})

const fieldsOf = ({ id, kind, attempts }: Job) => ({ job: id, kind, attempts })
