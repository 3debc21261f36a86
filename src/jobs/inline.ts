import { isUnreachable, isWriteConflict } from '../db/errors.ts'
import { TryAgain, type Tx } from '../db/transaction.ts'
import { groupBy } from '../lib/batch.ts'
import type { Log } from '../log.ts'
import { jobLeaseMs } from './lease.ts'
import type { Job, JobQueue } from './queue.ts'
import { type BegunJob, JobRunner, type Tasks } from './runner.ts'

/** How long no job is begun after a failure, in milliseconds. */
const pauseMs = 10_000

/** How long a begun job waits for others to be completed with it, in milliseconds. */
const settleAfterMs = 50

/**
 * Runs jobs in the process that enqueued them, right after their commit. Jobs beyond its slots are left to workers, so
 * a burst of writes neither waits nor fails. A task may do its work in the transaction that would insert its job. If
 * something is left to check afterwards, the job is stored, and jobs are completed together. Otherwise it is not stored.
 * @see law L4
 */
export class InlineRunner {
  private runner: JobRunner | undefined
  private tasks: Tasks = {}
  private log: Log | undefined
  private taken = 0
  private writing = 0
  /** What is left to do of begun jobs. A job whose transaction does not commit is never looked up. */
  private readonly begun = new WeakMap<Job, BegunJob>()
  private unsettled: (readonly [Job, BegunJob])[] = []
  private timer: NodeJS.Timeout | undefined
  private settling: Promise<void> = Promise.resolve()
  /** Until when no job is begun, because beginning one failed. By the monotonic clock. */
  private pausedUntilMs = 0

  /**
   * @param slots number of jobs that it runs at the same time.
   * @param leaseMs how long a job stays leased to this process if the process dies, in milliseconds.
   */
  constructor(
    private readonly queue: JobQueue,
    private readonly slots = 16,
    readonly leaseMs = jobLeaseMs,
  ) {}

  /** Starts to run jobs. Before that, all jobs are left to workers. */
  start(tasks: Tasks, log: Log): void {
    this.tasks = tasks
    this.log = log
    this.runner = new JobRunner(this.queue, tasks, log)
  }

  /** Whether a write of {@link writes} has not ended. */
  get isWriting(): boolean {
    return this.writing > 0
  }

  /** Notes the begin or the end of a write that prepares jobs. */
  writes(change: 1 | -1): void {
    this.writing += change
  }

  /** Takes a slot, until {@link release}. @returns false if no slot is free. */
  reserve(): boolean {
    if (!this.runner || this.taken >= this.slots) return false
    this.taken++
    return true
  }

  release(slots: number): void {
    this.taken -= slots
  }

  /**
   * Begins jobs in the transaction that would insert them, if their tasks can. After an error that a further try would
   * not cure, no job is begun for 10 s, so that a task which fails stops no write.
   * @returns the jobs that must be inserted.
   * @throws {TryAgain} then: the next try of the transaction begins nothing.
   * @throws what a task throws for other reasons.
   */
  async begin(tx: Tx, jobs: readonly Job[]): Promise<readonly Job[]> {
    if (performance.now() < this.pausedUntilMs) return jobs
    try {
      await this.beginByKind(tx, jobs)
      return jobs.filter((job) => {
        const begun = this.begun.get(job)
        return !begun || begun.isDone !== undefined
      })
    } catch (error) {
      if (isWriteConflict(error) || isUnreachable(error)) throw error
      this.pausedUntilMs = performance.now() + pauseMs
      this.log?.error({ err: error }, 'jobs could not be begun in their transaction')
      throw new TryAgain('without begun jobs', { cause: error })
    }
  }

  private async beginByKind(tx: Tx, jobs: readonly Job[]): Promise<void> {
    for (const [kind, ofKind] of groupBy(jobs, (job) => job.kind)) {
      const begin = Object.hasOwn(this.tasks, kind) ? this.tasks[kind]?.begin : undefined
      const begun = (await begin?.(tx, ofKind)) ?? []
      for (const [at, one] of begun.entries()) {
        const job = ofKind[at]
        if (job && one) this.begun.set(job, one)
      }
    }
  }

  /**
   * Runs a job that was committed with a lease, or finishes it if it was begun. Never throws: a worker goes on with a job
   * that fails or is unfinished. Leaves a job without a lease to workers.
   */
  async run(job: Job): Promise<void> {
    const begun = this.begun.get(job)
    if (!begun && job.leaseMs === 0) return
    try {
      await begun?.finish()
    } catch (error) {
      this.log?.warn({ err: error, job: job.id }, 'a begun job could not be finished')
      if (begun?.isDone) await this.runner?.run(job, true)
      else begun?.abandon?.()
      return
    }
    if (!begun) await this.runner?.run(job, true)
    else if (begun.isDone) this.settleSoon(job, begun)
    else this.runner?.countDone(job)
  }

  /** Gives up a job that was begun, because it is not known whether its transaction was committed. */
  abandon(job: Job): void {
    this.begun.get(job)?.abandon?.()
  }

  /** Completes the begun jobs now. Until then their leases hold, and workers complete them after a crash. */
  async settle(): Promise<void> {
    clearTimeout(this.timer)
    this.timer = undefined
    const jobs = this.unsettled.splice(0)
    const settled = jobs.map(([job, begun]) => this.runner?.settleBegun(job, begun))
    const before = this.settling
    // Without a value, so that no settled promise holds the ones before it.
    this.settling = Promise.all([before, ...settled]).then(() => {})
    await this.settling
  }

  private settleSoon(job: Job, begun: BegunJob): void {
    this.unsettled.push([job, begun])
    this.timer ??= setTimeout(() => void this.settle(), settleAfterMs).unref()
  }
}
