import { setTimeout as sleep } from 'node:timers/promises'
import type { QueueName } from '../db/collections.ts'
import { backoffMs } from '../lib/backoff.ts'
import type { Log } from '../log.ts'
import { jobLeaseMs } from './lease.ts'
import type { Job, JobQueue } from './queue.ts'
import { JobRunner, type Tasks } from './runner.ts'

export type { Task } from './runner.ts'

export interface WorkerOptions {
  /**
   * Number of slots. From two slots on, short jobs, and long jobs, use at most all but one. Ranges
   * use one.
   */
  readonly concurrency: number
  /**
   * How long to wait after a poll that found no due job, in milliseconds. For as long after a job
   * began or ended, each wait is a tenth of it: other jobs often follow, for example the ranges
   * that another worker has split. Default: 1,000.
   */
  readonly pollMs?: number
  /**
   * How long a job stays leased to a killed worker, in milliseconds. Extended after each third.
   * Default: {@link jobLeaseMs}.
   */
  readonly leaseMs?: number
}

const short: readonly QueueName[] = ['QUICK']

const outage = { baseMs: 500, capMs: 10_000 }

/**
 * Runs jobs, each at least once, until stopped. It logs an outage of the database and goes on after
 * it. It first polls the queues of which it runs fewer jobs. Neither short nor long jobs ever take
 * all slots, so neither waits for the other. Ranges of split jobs take one slot, so that more
 * workers, not one worker, make a huge job faster. Small jobs of one kind share a slot and the
 * commands that claim and complete them. A poll costs one command, or two while more jobs of one
 * queue run. A job costs a poll, one command to lease it, one a save, one a third of its lease, and
 * one to complete.
 * @see law L4
 */
export class Worker {
  private readonly runner: JobRunner
  /** A slot holds one job, or a batch. */
  private readonly running = new Map<Promise<void>, QueueName>()
  private readonly queueMax: number
  /** When a job last began or ended, by the monotonic clock. */
  private busyAt = Number.NEGATIVE_INFINITY
  private looping: Promise<void> | undefined
  private nudged = false
  private stopping = false
  private wake = () => {}
  private readonly options: Required<WorkerOptions>

  constructor(
    private readonly queue: JobQueue,
    private readonly tasks: Tasks,
    private readonly log: Log,
    options: WorkerOptions,
  ) {
    this.options = { pollMs: 1_000, leaseMs: jobLeaseMs, ...options }
    this.runner = new JobRunner(queue, tasks, log)
    this.queueMax = Math.max(1, options.concurrency - 1)
  }

  /** Starts to claim jobs, until {@link stop}. A repeat does nothing. */
  start(): void {
    this.looping ??= this.loop()
  }

  /** Polls now: this process has just committed a job. No command, and safe at any time. */
  nudge(): void {
    this.nudged = true
    this.wake()
  }

  /**
   * Runs jobs until no job is due and all running jobs have ended. Jobs in back-off are left.
   * @throws the error of a failed claim, after all running jobs have ended.
   */
  async drain(): Promise<void> {
    try {
      while (!this.stopping) {
        // A job that ends during the claim may have enqueued another job that the claim did not
        // see.
        const wasIdle = this.running.size === 0
        if (await this.startOne()) continue
        if (wasIdle) return
        if (this.running.size > 0) await Promise.race(this.running.keys())
      }
    } finally {
      await Promise.all(this.running.keys())
    }
  }

  /**
   * Claims no more jobs, gives running jobs `graceMs` to finish, and hands the others back. Final.
   * Takes at most `graceMs`, a second for tasks that ignore their signal, and two commands.
   */
  async stop(graceMs = 3_000): Promise<void> {
    this.stopping = true
    this.wake()
    await Promise.race([
      Promise.all(this.running.keys()),
      sleep(graceMs, undefined, { ref: false }),
    ])
    this.runner.abort(new Error('the worker stops'))
    await Promise.all([this.looping, ...this.running.keys()])
  }

  private async loop(): Promise<void> {
    let failures = 0
    while (!this.stopping) {
      try {
        const started = await this.startOne()
        failures = 0
        if (started) continue
        const { pollMs } = this.options
        await this.idle(performance.now() - this.busyAt < pollMs ? pollMs / 10 : pollMs)
      } catch (error) {
        failures++
        this.log.warn({ err: error, failures }, 'no job could be claimed')
        await this.idle(backoffMs(failures, outage))
      }
    }
  }

  /**
   * Claims and starts a job, with a batch of its kind, once a slot is free. @returns false if no
   * job is due or the worker stops.
   */
  private async startOne(): Promise<boolean> {
    while (this.running.size >= this.options.concurrency) await Promise.race(this.running.keys())
    if (this.stopping) return false
    this.nudged = false
    const jobs = await this.claim()
    const [job] = jobs
    if (!job) return false
    if (this.stopping) {
      await Promise.all(jobs.map((one) => this.queue.release(one)))
      return false
    }
    const run = Promise.all(jobs.map((one) => this.runner.run(one))).then((areDue) => {
      if (areDue.includes(true) || this.isFull(job.queue)) this.nudge()
      this.busyAt = performance.now()
      this.running.delete(run)
    })
    this.busyAt = performance.now()
    this.running.set(run, job.queue)
    return true
  }

  /**
   * Polls the queues with fewer running jobs first: short jobs, or long ones. With the same number
   * of both, claims the oldest job.
   */
  private async claim(): Promise<Job[]> {
    const long: readonly QueueName[] = this.countOf('RANGE') > 0 ? ['BULK'] : ['BULK', 'RANGE']
    const ahead = this.countOf('QUICK') - this.countLong()
    if (ahead === 0) return this.claimFrom(['QUICK', ...long])
    const [fewer, more] = ahead < 0 ? [short, long] : [long, short]
    const jobs = await this.claimFrom(fewer)
    const count = Math.max(this.countOf('QUICK'), this.countLong())
    return jobs.length > 0 || count >= this.queueMax ? jobs : this.claimFrom(more)
  }

  private claimFrom(queues: readonly QueueName[]): Promise<Job[]> {
    const batchSizeOf = (kind: string) =>
      (Object.hasOwn(this.tasks, kind) && this.tasks[kind]?.batchSize) || 1
    return this.queue.claim(this.options.leaseMs, { queues, batchSizeOf })
  }

  /**
   * Whether jobs may be due that this worker did not claim because of a running job of this queue.
   */
  private isFull(queue: QueueName): boolean {
    if (queue === 'QUICK') return this.countOf(queue) >= this.queueMax
    return queue === 'RANGE' || this.countLong() >= this.queueMax
  }

  private countOf(queue: QueueName): number {
    return [...this.running.values()].filter((other) => other === queue).length
  }

  private countLong(): number {
    return this.running.size - this.countOf('QUICK')
  }

  private idle(ms: number): Promise<void> {
    if (this.nudged || this.stopping) return Promise.resolve()
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms)
      this.wake = () => resolve(clearTimeout(timer))
    })
  }
}
