import type { Tx } from '../../db/transaction.ts'
import type { Pair } from '../../follows/pair-lists.ts'
import type { NewJob, Outbox } from '../../jobs/outbox.ts'
import { timelineReactions } from '../delivery/job-kinds.ts'
import type { Registrations } from './registrations.ts'

/**
 * How stored timelines receive what an import writes. SMALL: one job per edge. LARGE: a back-fill
 * of the timelines of all changed readers after the import ended or stopped.
 */
export type ImportSize = 'SMALL' | 'LARGE'

/** How long after the last batch of a killed import the rebuild begins, in milliseconds. */
const rebuildDelayMs = 60_000

/**
 * Enqueues the timeline jobs of imports, which write edges without the services that deliver them.
 * Each batch of a large import marks its followers, takes strategies out of service and delays
 * their back-fill. A back-fill that began between two batches ends, and begins again after the
 * later batch. So it misses no edge, also if the process of the import is killed.
 */
export class Upkeep {
  constructor(
    private readonly registrations: Registrations,
    private readonly outbox: Outbox,
  ) {}

  /**
   * Adds, in the transaction of a batch, the jobs that bring stored timelines up to date. Two
   * commands if no strategy is registered, otherwise three for a small import, and for a large one
   * six, or ten while strategies are being filled.
   */
  async leaveJobs(tx: Tx, follows: readonly Pair[], size: ImportSize): Promise<void> {
    // A concurrent registration reads the batch, or the batch reads the registration.
    await this.registrations.lockRegistrations(tx)
    if (size === 'LARGE') {
      const changed = [...new Set(follows.map(({ follower }) => follower))]
      return this.registrations.invalidateChanged(tx, changed, rebuildDelayMs)
    }
    if ((await this.registrations.loadMaintainedNames(tx)).length === 0) return
    const jobs = follows.map(({ follower, followee }): NewJob => {
      const kind = timelineReactions['follow.created']
      // In the queue of long jobs, so that new posts are not delivered after imported follows.
      return { kind, payload: { follower, followee }, queue: 'BULK' }
    })
    await this.outbox.enqueue(tx, jobs)
  }

  /**
   * Starts the rebuilds of large imports now. Otherwise they start a minute after the last batch,
   * even if the importing process was killed. One command.
   */
  async beginRebuilds(): Promise<void> {
    await this.registrations.beginRebuilds()
  }
}
