import type { Tx } from '../db/transaction.ts'
import { type Job, type JobQueue, LeaseLost } from './queue.ts'

/** One try of a job, as the task sees it. */
export interface Run {
  /** The id of the job, and its shard key. */
  readonly job: Pick<Job, 'id' | 'about'>
  /** The argument of the last `save` of this or an earlier try; undefined before the first. */
  readonly checkpoint: unknown
  /**
   * Saves the progress of the task, plain JSON, in a transaction if one is given. One command.
   * @throws LeaseLost
   */
  readonly save: (checkpoint: unknown, tx?: Tx) => Promise<void>
  /**
   * Aborts when the lease is lost or the worker stops. The task should then throw within a second.
   */
  readonly signal: AbortSignal
  /**
   * Whether the mutation that enqueued the job waits for this try. Long work should be left to a
   * worker then.
   */
  readonly inline: boolean
}

/**
 * How long a job stays leased to a killed process, in milliseconds. A live process extends the
 * lease after each third. Longer than any command may take, so that a late heartbeat still extends
 * the lease in time.
 */
export const jobLeaseMs = 10_000

/**
 * How long a task may run after its signal aborted, in milliseconds. Then its job is handed back.
 */
const abandonMs = 1_000

/** Extends the lease on one job while its task runs, and aborts the task when the lease is lost. */
export class Lease implements Run {
  private readonly controller = new AbortController()
  private readonly heartbeat: NodeJS.Timeout
  private heldUntilMs: number
  /** Set once another worker holds, or may hold, the lease. */
  private lost: LeaseLost | undefined

  constructor(
    private readonly queue: JobQueue,
    public job: Job,
    readonly inline: boolean,
  ) {
    this.heldUntilMs = performance.now() + job.leaseMs
    // Not unref'd: it also keeps the process alive, so that the other timers here can be.
    this.heartbeat = setInterval(() => void this.beat(), job.leaseMs / 3)
  }

  get signal(): AbortSignal {
    return this.controller.signal
  }

  get checkpoint(): unknown {
    return this.job.checkpoint
  }

  readonly save = async (checkpoint: unknown, tx?: Tx): Promise<void> => {
    await this.held(async () => {
      this.job = await this.queue.save(this.job, checkpoint, tx)
    })
  }

  /** Rejects one second after the signal aborted. */
  abandoned(): Promise<never> {
    return new Promise((_, reject) => {
      this.signal.addEventListener('abort', () => {
        setTimeout(reject, abandonMs, this.signal.reason).unref()
      })
    })
  }

  abort(reason: Error): void {
    this.controller.abort(reason)
  }

  end(): void {
    clearInterval(this.heartbeat)
  }

  private async beat(): Promise<void> {
    if (performance.now() >= this.heldUntilMs) this.lose(new LeaseLost(this.job.id))
    // After a failure for another reason, the next heartbeat extends the lease, or the lease runs
    // out.
    await this.held(() => this.queue.extend(this.job)).catch(() => {})
  }

  /** Runs a command that extends the lease. */
  private async held(command: () => Promise<void>): Promise<void> {
    if (this.lost) throw this.lost
    const sentAtMs = performance.now()
    try {
      await command()
      this.heldUntilMs = sentAtMs + this.job.leaseMs
    } catch (error) {
      if (error instanceof LeaseLost) this.lose(error)
      throw error
    }
  }

  private lose(lost: LeaseLost): void {
    this.lost = lost
    this.abort(lost)
  }
}
