import type { Log } from '../log.ts'
import type { Incomplete, Registrations } from './registrations.ts'

/** How often a server looks for strategies without a back-fill, in milliseconds. */
const lookEveryMs = 60_000

/**
 * Looks for strategies that do not cover all readers. Queues the back-fill of those that have no job, and says what
 * it found, each state once.
 */
export class RebuildWatch {
  private readonly logged = new Map<string, Incomplete['job']>()
  private timer: NodeJS.Timeout | undefined
  private looking: Promise<void> = Promise.resolve()

  constructor(
    private readonly registrations: Registrations,
    private readonly log: Log,
  ) {}

  /** Looks now. One command where every strategy covers all readers. */
  async look(): Promise<void> {
    const found = await this.registrations.restore()
    const before = new Map(this.logged)
    this.logged.clear()
    for (const incomplete of found) {
      const { name, job } = incomplete
      this.logged.set(name, job)
      if (before.get(name) === job) continue
      if (job === 'WAITING') this.log.info(sentenceOf(incomplete))
      else this.log.warn(sentenceOf(incomplete))
    }
  }

  /** Looks every minute, until {@link stop}. */
  start(): void {
    this.timer = setInterval(() => {
      this.looking = this.looking
        .then(() => this.look())
        .catch((error) =>
          this.log.warn({ err: error }, 'the state of the strategies could not be read'),
        )
    }, lookEveryMs)
    this.timer.unref()
  }

  /** Waits for a look that is under way. Final. */
  async stop(): Promise<void> {
    clearInterval(this.timer)
    await this.looking
  }
}

const advice: Readonly<Record<Incomplete['job'], string>> = {
  WAITING: 'A job is back-filling the other readers.',
  PARKED: 'The back-fill job is parked: see "feedline jobs".',
  RESTORED: 'The back-fill job was missing. A new job is queued now.',
}

const sentenceOf = ({ name, readers: { done, total }, job }: Incomplete): string =>
  `${name} covers ${done} of about ${total} readers. The other readers get pages from FANOUT_ON_READ. ${advice[job]}`
