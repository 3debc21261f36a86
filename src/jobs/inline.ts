import type { Log } from '../log.ts'
import { Attempts, type Tasks } from './attempt.ts'
import { jobLeaseMs } from './lease.ts'
import type { Job, JobQueue } from './queue.ts'

/**
 * Runs jobs in the process that promised them, as soon as they are committed: no worker has to find
 * them first. It takes so many at once and leaves the others to workers, so that a rush of writes
 * is refused nothing and waits for nothing.
 * @see law L4
 */
export class Inline {
  private attempts: Attempts | undefined
  private taken = 0

  /**
   * @param atOnceMax how many jobs it runs at the same time.
   * @param leaseMs how long a job stays with this process should it die.
   */
  constructor(
    private readonly queue: JobQueue,
    private readonly atOnceMax = 16,
    readonly leaseMs = jobLeaseMs,
  ) {}

  /** Begins to take jobs; before that, all are left to workers. */
  start(tasks: Tasks, log: Log): void {
    this.attempts = new Attempts(this.queue, tasks, log)
  }

  /** Takes a slot, to be given back with {@link release}. @returns false when there is none. */
  reserve(): boolean {
    if (!this.attempts || this.taken >= this.atOnceMax) return false
    this.taken++
    return true
  }

  release(slots: number): void {
    this.taken -= slots
  }

  /**
   * Tries a job that was committed with a lease, and settles it as a worker does. Never throws: what
   * fails or is unfinished goes on with a worker.
   */
  async run(job: Job): Promise<void> {
    await this.attempts?.run(job, true)
  }
}
