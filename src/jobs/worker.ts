import { setTimeout as sleep } from 'node:timers/promises'
import type { JobLane } from '../db/collections.ts'
import { backoffMs } from '../lib/backoff.ts'
import type { Log } from '../log.ts'
import { Attempts, type Tasks } from './attempt.ts'
import type { Job, JobQueue } from './queue.ts'

export type { Task } from './attempt.ts'

export interface WorkerOptions {
  /** How many slots there are for jobs to run in; one lane takes at most one less, where it is two or more. */
  readonly concurrency: number
  /** How long to wait after finding nothing due. */
  readonly pollMs: number
  /** How long a job stays with a worker that has died. Extended at every third of it. */
  readonly leaseMs: number
}

const outage = { baseMs: 500, capMs: 10_000 }

/**
 * Runs jobs, at least once each, until stopped. Outages of the database are logged and outlived.
 * It looks first in the lane of which it runs fewer jobs, and no lane ever has all its slots: so
 * neither waits for the other, however much of it is due.
 * Small jobs whose task can be run together share a slot, and the commands that claim and settle them.
 * A poll that finds nothing costs one command, or two while more of one lane run than of the other;
 * a job costs the same to claim, one a save, one a third of its lease, and one to settle.
 * @see law L4
 */
export class Worker {
  private readonly attempts: Attempts
  /** A slot holds one job, or several that are run together. */
  private readonly running = new Map<Promise<void>, JobLane>()
  private readonly laneMax: number
  private looping: Promise<void> | undefined
  private nudged = false
  private stopping = false
  private wake = () => {}

  constructor(
    private readonly queue: JobQueue,
    private readonly tasks: Tasks,
    private readonly log: Log,
    private readonly options: WorkerOptions,
  ) {
    this.attempts = new Attempts(queue, tasks, log)
    this.laneMax = Math.max(1, options.concurrency - 1)
  }

  /** Begins to take jobs, until {@link stop}. A repeat does nothing. */
  start(): void {
    this.looping ??= this.loop()
  }

  /** Looks for jobs now: one was just committed in this process. Free, and safe at any time. */
  nudge(): void {
    this.nudged = true
    this.wake()
  }

  /**
   * Runs jobs until nothing is due and all that it runs is settled; what backs off, it leaves.
   * @throws what the database threw at a claim, after all that runs is settled.
   */
  async drain(): Promise<void> {
    try {
      while (!this.stopping) {
        if (await this.startOne()) continue
        if (this.running.size === 0) return
        await Promise.race(this.running.keys())
      }
    } finally {
      await Promise.all(this.running.keys())
    }
  }

  /**
   * Takes no more jobs, gives those that run `graceMs` to finish, and hands the others back.
   * Ends within `graceMs`, a second for tasks that do not listen, and two commands. Final.
   */
  async stop(graceMs = 3_000): Promise<void> {
    this.stopping = true
    this.wake()
    await Promise.race([
      Promise.all(this.running.keys()),
      sleep(graceMs, undefined, { ref: false }),
    ])
    this.attempts.abort(new Error('the worker stops'))
    await Promise.all([this.looping, ...this.running.keys()])
  }

  private async loop(): Promise<void> {
    let failures = 0
    while (!this.stopping) {
      try {
        const started = await this.startOne()
        failures = 0
        if (!started) await this.idle(this.options.pollMs)
      } catch (error) {
        failures++
        this.log.warn({ err: error, failures }, 'no job could be claimed')
        await this.idle(backoffMs(failures, outage))
      }
    }
  }

  /** Claims and starts a job, and what can be run together with it, once there is room. False: nothing is due, or the worker stops. */
  private async startOne(): Promise<boolean> {
    while (this.running.size >= this.options.concurrency) await Promise.race(this.running.keys())
    if (this.stopping) return false
    this.nudged = false
    const job = await this.claim()
    if (!job) return false
    const jobs = [job, ...(await this.alike(job))]
    if (this.stopping) {
      await Promise.all(jobs.map((one) => this.queue.release(one)))
      return false
    }
    const run = Promise.all(jobs.map((one) => this.attempts.run(one))).then((unfinished) => {
      if (unfinished.includes(true) || this.isFull(job.lane)) this.nudge()
      this.running.delete(run)
    })
    this.running.set(run, job.lane)
    return true
  }

  /** More to run in the slot of a job. What fails here leaves the job itself, to be run alone. */
  private async alike(job: Job): Promise<Job[]> {
    const together = (Object.hasOwn(this.tasks, job.kind) && this.tasks[job.kind]?.together) || 1
    if (together === 1 || job.lane !== 'QUICK' || this.stopping) return []
    return this.queue.claimLike(job, together - 1).catch((error) => {
      this.log.warn({ err: error }, 'a batch of jobs could not be claimed')
      return []
    })
  }

  /** Looks in the lane with fewer running jobs first; takes the oldest where both have as many. */
  private async claim(): Promise<Job | undefined> {
    const { leaseMs } = this.options
    const ahead = this.countOf('QUICK') - this.countOf('BULK')
    if (ahead === 0) return this.queue.claim(leaseMs)
    const [fewer, more] = ahead < 0 ? (['QUICK', 'BULK'] as const) : (['BULK', 'QUICK'] as const)
    const job = await this.queue.claim(leaseMs, fewer)
    return job || this.isFull(more) ? job : this.queue.claim(leaseMs, more)
  }

  private isFull(lane: JobLane): boolean {
    return this.countOf(lane) >= this.laneMax
  }

  private countOf(lane: JobLane): number {
    return [...this.running.values()].filter((other) => other === lane).length
  }

  private idle(ms: number): Promise<void> {
    if (this.nudged || this.stopping) return Promise.resolve()
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms)
      this.wake = () => resolve(clearTimeout(timer))
    })
  }
}
