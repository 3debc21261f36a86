import type { Log } from '../../log.ts'
import type { IncompleteStrategy } from './backfill-jobs.ts'
import type { Registrations } from './registrations.ts'

/**
 * Finds strategies that do not cover all readers, queues missing back-fill jobs, and logs each
 * state once.
 */
export class RebuildWatch {
  private readonly logged = new Map<string, IncompleteStrategy['job']>()

  constructor(
    private readonly registrations: Registrations,
    private readonly log: Log,
  ) {}

  /** Checks all strategies now. Four commands if every strategy covers all readers. */
  async checkStrategies(): Promise<void> {
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
}

const advice: Readonly<Record<IncompleteStrategy['job'], string>> = {
  WAITING: 'A job is back-filling the other readers.',
  PARKED: 'The back-fill job is parked: see "feedline jobs".',
  RESTORED: 'The back-fill job was missing. A new job is queued now.',
}

const describeStrategy = ({ name, readers: { done, total }, job }: IncompleteStrategy): string =>
  `${name} covers ${done} of about ${total} readers. The other readers get pages from FANOUT_ON_READ. ${advice[job]}`
