import type { Log } from '../../log.ts'
import type { Sweep } from '../delivery/sweep.ts'
import type { IncompleteStrategy } from './backfill-jobs.ts'
import type { Registrations } from './registrations.ts'

/** How often a server checks for strategies without a back-fill job, in milliseconds. */
const checkIntervalMs = 60_000

/**
 * Finds strategies that do not cover all readers, queues missing back-fill jobs, and logs each state once. Also queues the
 * sweep of the day.
 */
export class RebuildWatch {
  private readonly logged = new Map<string, IncompleteStrategy['job']>()
  private timer: NodeJS.Timeout | undefined
  private checking: Promise<void> = Promise.resolve()

  constructor(
    private readonly registrations: Registrations,
    private readonly sweep: Sweep,
    private readonly log: Log,
  ) {}

  /** Checks all strategies now. Four commands if every strategy covers all readers, and one more with a retention. */
  async checkStrategies(): Promise<void> {
    await this.sweep.enqueueDaily()
    const rebuilds = await this.registrations.restoreJobs()
    const before = new Map(this.logged)
    this.logged.clear()
    for (const incomplete of rebuilds) {
      const { name, job } = incomplete
      this.logged.set(name, job)
      if (before.get(name) === job) continue
      if (job === 'WAITING') this.log.info(describeStrategy(incomplete))
      else this.log.warn(describeStrategy(incomplete))
    }
  }

  /** Checks all strategies every minute, until {@link stop}. */
  start(): void {
    this.timer = setInterval(() => {
      this.checking = this.checking
        .then(() => this.checkStrategies())
        .catch((error) =>
          this.log.warn({ err: error }, 'the state of the strategies could not be read'),
        )
    }, checkIntervalMs)
    this.timer.unref()
  }

  /** Stops the checks, and waits for a running one. Final. */
  async stop(): Promise<void> {
    clearInterval(this.timer)
    await this.checking
  }
}

const advice: Readonly<Record<IncompleteStrategy['job'], string>> = {
  WAITING: 'A job is back-filling the other readers.',
  PARKED: 'The back-fill job is parked: see "feedline jobs".',
  RESTORED: 'The back-fill job was missing. A new job is queued now.',
}

const describeStrategy = ({ name, readers: { done, total }, job }: IncompleteStrategy): string =>
  `${name} covers ${done} of about ${total} readers. The other readers get pages from FANOUT_ON_READ. ${advice[job]}`
