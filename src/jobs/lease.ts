import { type Job, type JobQueue, LeaseLost } from './queue.ts'

/** One try of a job, as its task sees it. */
export interface Run {
  /** What the last `save` of this or an earlier try left; undefined before the first. */
  readonly checkpoint: unknown
  /** Keeps how far the task has come: plain JSON, one command. @throws LeaseLost */
  readonly save: (checkpoint: unknown) => Promise<void>
  /** Aborts when the lease is lost or the worker stops; the task should then throw soon. */
  readonly signal: AbortSignal
  /** Whether the writer who promised the job waits for this try: what takes long should not be done now. */
  readonly inline: boolean
}

/**
 * How long a job stays with a process that was killed, in milliseconds; a live one extends it at every third. Longer
 * than a command may take: a heartbeat that the database answers late still comes in time.
 */
export const jobLeaseMs = 10_000

/** How long a task may go on after its signal aborted before its job is settled without it. */
const abandonMs = 1_000

/** Keeps one job's lease while its task runs, and tells the task when it is gone. */
export class Lease implements Run {
  private readonly controller = new AbortController()
  private readonly heartbeat: NodeJS.Timeout
  private heldUntilMs: number
  /** Set once the job is, or may be, another worker's. */
  private lost: LeaseLost | undefined

  constructor(
    private readonly queue: JobQueue,
    public job: Job,
    readonly inline: boolean,
  ) {
    this.heldUntilMs = performance.now() + job.leaseMs
    // Keeps the process alive too, so that the other timers here need not.
    this.heartbeat = setInterval(() => void this.beat(), job.leaseMs / 3)
  }

  get signal(): AbortSignal {
    return this.controller.signal
  }

  get checkpoint(): unknown {
    return this.job.checkpoint
  }

  readonly save = async (checkpoint: unknown): Promise<void> => {
    await this.held(async () => {
      this.job = await this.queue.save(this.job, checkpoint)
    })
  }

  /** Rejects when the task has had its time after the signal aborted. */
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
    // A beat that fails for another reason is made good by the next, or the lease runs out.
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
