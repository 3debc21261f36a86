import type { Collections } from '../db/collections.ts'
import { fromObjectId, toObjectId } from '../db/object-id.ts'
import type { PostId, UserId } from '../lib/ids.ts'
import type { UserEngagementIndex } from './user-index.ts'

/** The kind of the job that clears the lists of a removed post. Persisted. */
export const orphanedKind = 'engagements.orphaned'

/** Overflow documents read at a time. */
const batchSize = 10

/**
 * Clears the engagement of a removed post: its lists, all of which are in overflow by then, and
 * their entries in {@link UserEngagementIndex}. Nothing can be added any more: every write changes
 * the post.
 */
export class OrphanedEngagement {
  constructor(
    private readonly overflow: Collections['overflow'],
    private readonly userIndex: UserEngagementIndex,
  ) {}

  /** Runs until nothing is left or `signal` aborts. A repeat goes on where it ended. */
  async clear(post: PostId, signal: AbortSignal): Promise<void> {
    const lists = this.overflow.find({ '_id.post': toObjectId(post) }, { batchSize })
    for await (const { _id, items } of lists) {
      signal.throwIfAborted()
      const entries = items.map((item) => ({
        id: fromObjectId<never>(item._id),
        user: item.actor as UserId,
      }))
      await this.userIndex.remove(entries)
      await this.overflow.deleteOne({ _id })
    }
  }
}
