import type { Log } from '../log.ts'
import { jobLeaseMs } from './lease.ts'
import type { Job, JobQueue } from './queue.ts'
import { JobRunner, type Tasks } from './runner.ts'

/**
 * Runs jobs in the process that enqueued them, right after their commit. Jobs beyond its slots are
 * left to workers, so a burst of writes neither waits nor fails.
 * @see law L4
 */
export class InlineRunner {
  private runner: JobRunner | undefined
  private taken = 0

  /**
   * @param slots number of jobs that it runs at the same time.
   * @param leaseMs how long a job stays leased to this process if the process dies, in
   *   milliseconds.
   */
  constructor(
    private readonly queue: JobQueue,
    private readonly slots = 16,
    readonly leaseMs = jobLeaseMs,
  ) {}

  /** Starts to run jobs. Before that, all jobs are left to workers. */
  start(tasks: Tasks, log: Log): void {
    this.runner = new JobRunner(this.queue, tasks, log)
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
   * Runs a job that was committed with a lease. Never throws: a worker goes on with a job that
   * fails or is unfinished. Leaves a job without a lease to workers.
   */
  async run(job: Job): Promise<void> {
    if (job.leaseMs > 0) await this.runner?.run(job, true)
  }
}
