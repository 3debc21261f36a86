import type { Tx } from '../db/transaction.ts'
import { subscriptions } from '../events.ts'
import type { ImportSize, TimelineUpkeep, Written } from '../imports/upkeep.ts'
import type { NewJob, Outbox } from '../jobs/outbox.ts'
import type { Registrations } from './registrations.ts'

/** How long after the last batch of an import that was killed its rebuild begins, in milliseconds. */
const rebuildDelayMs = 60_000

/**
 * Leaves jobs for what imports write. A large import uncovers all readers with each batch, and puts the rebuild off:
 * a rebuild that began between two batches ends, and begins again after the later one. So none misses an edge, however
 * the import ends, and whatever its process does.
 */
export class Upkeep implements TimelineUpkeep {
  constructor(
    private readonly registrations: Registrations,
    private readonly outbox: Outbox,
  ) {}

  async leaveJobs(tx: Tx, { follows, posts }: Written, size: ImportSize): Promise<void> {
    // A strategy that is registered at this moment sees the batch, or the batch sees it.
    await this.registrations.meet(tx)
    if (size === 'LARGE') return this.registrations.invalidate(tx, rebuildDelayMs)
    if ((await this.registrations.namesIn(tx)).length === 0) return
    // In the lane of long jobs, so that posts of this moment are not delivered after those of the import.
    const followJobs = follows.map(({ follower, followee }) => ({
      kind: subscriptions['follow.created'].timelines,
      payload: { follower, followee },
    }))
    const postJobs = posts.map(({ author, id }) => ({
      kind: subscriptions['post.created'].timelines,
      payload: { author, post: id },
    }))
    const jobs = [...followJobs, ...postJobs]
    await this.outbox.enqueue(
      tx,
      jobs.map((job): NewJob => ({ ...job, lane: 'BULK' })),
    )
  }

  async beginRebuilds(): Promise<void> {
    await this.registrations.beginRebuilds()
  }
}
