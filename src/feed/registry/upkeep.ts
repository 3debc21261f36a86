import type { Tx } from '../../db/transaction.ts'
import type { ImportSize, TimelineUpkeep, Written } from '../../imports/upkeep.ts'
import type { NewJob, Outbox } from '../../jobs/outbox.ts'
import { timelineReactions } from '../delivery/job-kinds.ts'
import type { Registrations } from './registrations.ts'

/** How long after the last batch of a killed import the rebuild begins, in milliseconds. */
const rebuildDelayMs = 60_000

/**
 * Enqueues the timeline jobs of imports. Each batch of a large import invalidates all timelines and delays the rebuild.
 * A rebuild that began between two batches ends, and begins again after the later batch. So it misses no edge, also if
 * the process of the import is killed.
 */
export class Upkeep implements TimelineUpkeep {
  constructor(
    private readonly registrations: Registrations,
    private readonly outbox: Outbox,
  ) {}

  async leaveJobs(tx: Tx, { follows, posts }: Written, size: ImportSize): Promise<void> {
    // A concurrent registration reads the batch, or the batch reads the registration.
    await this.registrations.lockRegistrations(tx)
    if (size === 'LARGE') return this.registrations.invalidate(tx, rebuildDelayMs)
    if ((await this.registrations.loadMaintainedNames(tx)).length === 0) return
    // In the queue of long jobs, so that new posts are not delivered after imported posts.
    const followJobs = follows.map(({ follower, followee }) => ({
      kind: timelineReactions['follow.created'],
      payload: { follower, followee },
    }))
    const postJobs = posts.map(({ author, id }) => ({
      kind: timelineReactions['post.created'],
      payload: { author, post: id },
    }))
    const jobs = [...followJobs, ...postJobs]
    await this.outbox.enqueue(
      tx,
      jobs.map((job): NewJob => ({ ...job, queue: 'BULK' })),
    )
  }

  async beginRebuilds(): Promise<void> {
    await this.registrations.beginRebuilds()
  }
}
