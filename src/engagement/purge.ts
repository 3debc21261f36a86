import type { Collections } from '../db/collections.ts'
import { fromObjectId, toObjectId } from '../db/object-id.ts'
import type { PostId, UserId } from '../lib/ids.ts'
import type { EngagedLog } from './engaged.ts'

/** Overflow documents read at a time. */
const batchSize = 10

/**
 * Clears what people did to a removed post: its lists, all of which stand in overflow by then, and what their logs say
 * of it. Nothing can be added any more: every write changes the post.
 */
export class PostPurge {
  constructor(
    private readonly overflow: Collections['overflow'],
    private readonly log: EngagedLog,
  ) {}

  /** Runs until nothing is left or `signal` aborts. A repeat goes on where it ended. */
  async run(post: PostId, signal: AbortSignal): Promise<void> {
    const lists = this.overflow.find({ '_id.post': toObjectId(post) }, { batchSize })
    for await (const { _id, items } of lists) {
      signal.throwIfAborted()
      const entries = items.map((item) => ({
        id: fromObjectId<never>(item._id),
        user: item.actor as UserId,
      }))
      await this.log.write([], entries)
      await this.overflow.deleteOne({ _id })
    }
  }
}
