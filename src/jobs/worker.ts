import { setTimeout as sleep } from 'node:timers/promises'
import { backoffMs } from '../lib/backoff.ts'
import type { Log } from '../log.ts'
import { Lease, type Run } from './lease.ts'
import type { Job, JobQueue } from './queue.ts'

/**
 * What is done about one kind of job. It may be cut off anywhere and run again from its last
 * checkpoint, and must change nothing then. Once its signal has aborted it counts as not done,
 * also when it returns.
 */
export type Task = (payload: Job['payload'], run: Run) => Promise<void>

export interface WorkerOptions {
  /** How many jobs run at the same time. */
  readonly concurrency: number
  /** How long to wait after finding nothing due. */
  readonly pollMs: number
  /** How long a job stays with a worker that has died. Extended at every third of it. */
  readonly leaseMs: number
}

const outage = { baseMs: 500, capMs: 10_000 }

/**
 * Runs jobs, at least once each, until stopped. Outages of the database are logged and outlived.
 * A poll that finds nothing costs one command; a job costs one to claim, one a save, one a third of
 * its lease, and one to settle.
 * @see law L4
 */
export class Worker {
  private readonly leases = new Set<Lease>()
  private readonly running = new Set<Promise<void>>()
  private looping: Promise<void> | undefined
  private nudged = false
  private stopping = false
  private wake = () => {}

  constructor(
    private readonly queue: JobQueue,
    private readonly tasks: Readonly<Record<string, Task>>,
    private readonly log: Log,
    private readonly options: WorkerOptions,
  ) {}

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
        await Promise.race(this.running)
      }
    } finally {
      await Promise.all(this.running)
    }
  }

  /**
   * Takes no more jobs, gives those that run `graceMs` to finish, and hands the others back.
   * Ends within `graceMs`, a second for tasks that do not listen, and two commands. Final.
   */
  async stop(graceMs = 3_000): Promise<void> {
    this.stopping = true
    this.wake()
    await Promise.race([Promise.all(this.running), sleep(graceMs, undefined, { ref: false })])
    for (const lease of this.leases) lease.abort(new Error('the worker stops'))
    await Promise.all([this.looping, ...this.running])
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

  /** Claims and starts one job, once there is room. False: nothing is due, or the worker stops. */
  private async startOne(): Promise<boolean> {
    while (this.running.size >= this.options.concurrency) await Promise.race(this.running)
    if (this.stopping) return false
    this.nudged = false
    const job = await this.queue.claim(this.options.leaseMs)
    if (!job) return false
    if (this.stopping) {
      await this.queue.release(job)
      return false
    }
    const run = this.run(job).finally(() => this.running.delete(run))
    this.running.add(run)
    return true
  }

  private idle(ms: number): Promise<void> {
    if (this.nudged || this.stopping) return Promise.resolve()
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms)
      this.wake = () => resolve(clearTimeout(timer))
    })
  }

  /** Tries a job once and settles it. Never throws: the unsettled is due when its lease ends. */
  private async run(job: Job): Promise<void> {
    const lease = new Lease(this.queue, job)
    this.leases.add(lease)
    try {
      await this.settle(lease, await this.failureOf(lease))
    } catch (error) {
      this.log.warn({ ...fieldsOf(job), err: error }, 'job left until its lease ends')
    } finally {
      lease.end()
      this.leases.delete(lease)
    }
  }

  private async failureOf(lease: Lease): Promise<{ error: unknown } | undefined> {
    const { kind, payload, attempts } = lease.job
    try {
      if (!Object.hasOwn(this.tasks, kind)) throw new Error(`no task for jobs of kind "${kind}"`)
      if (attempts > this.queue.attemptsMax) throw new Error('none of its tries came to an end')
      await Promise.race([this.tasks[kind]?.(payload, lease), lease.abandoned()])
      return undefined
    } catch (error) {
      return { error }
    }
  }

  private async settle(lease: Lease, failure: { error: unknown } | undefined): Promise<void> {
    const { job } = lease
    if (lease.signal.aborted) {
      await this.queue.release(job)
      this.log.info(fieldsOf(job), 'job handed back')
    } else if (failure) {
      this.log.error({ ...fieldsOf(job), err: failure.error }, 'job failed')
      if (await this.queue.fail(job, failure.error)) this.log.error(fieldsOf(job), 'job parked')
    } else {
      await this.queue.complete(job)
    }
  }
}

const fieldsOf = ({ id, kind, attempts }: Job) => ({ job: id, kind, attempts })
