import type { Collections, OverflowDoc, PostDoc } from '../db/collections.ts'
import { fromObjectId } from '../db/object-id.ts'
import type { Tx } from '../db/transaction.ts'
import { engagementKinds } from '../engagement/kinds.ts'
import type { Outbox } from '../jobs/outbox.ts'
import type { PostId, UserId } from '../lib/ids.ts'

/** The overflow level of the lists of a deleted post: below every level of an existing post. */
const tombstoneLevel = -1

/**
 * Keeps the lists of deleted posts in overflow documents until a job removes all likes, comments
 * and shares.
 */
export class Tombstones {
  constructor(
    private readonly overflow: Collections['overflow'],
    private readonly outbox: Outbox,
  ) {}

  /**
   * Inserts the lists that deleted posts held into overflow documents, and emits an event, to which
   * engagement reacts and removes them. No entry is lost if a process dies in between. Two
   * commands, none for posts without engagement.
   */
  async insert(tx: Tx, posts: readonly PostDoc[]): Promise<void> {
    const engaged = posts.filter(({ counts }) => counts !== undefined)
    const docs = engaged.flatMap((post) =>
      engagementKinds.flatMap((kind): OverflowDoc[] => {
        const items = post[kind] ?? []
        const [first] = items
        if (!first) return []
        const _id = { post: post._id, kind, level: tombstoneLevel }
        return [{ _id, first: first._id, count: items.length, items }]
      }),
    )
    if (docs.length > 0) await this.overflow.insertMany(docs, { session: tx.session })
    const jobs = engaged.flatMap(({ _id, author }) =>
      this.outbox.reactionsTo('engagements.orphaned', {
        author: author as UserId,
        post: fromObjectId<PostId>(_id),
      }),
    )
    await this.outbox.enqueue(tx, jobs)
  }
}
