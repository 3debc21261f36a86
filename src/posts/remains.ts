import { engagementKinds } from '../config.ts'
import type { Collections, OverflowDoc, PostDoc } from '../db/collections.ts'
import { fromObjectId } from '../db/object-id.ts'
import type { Tx } from '../db/transaction.ts'
import { reactionsTo } from '../events.ts'
import type { Outbox } from '../jobs/outbox.ts'
import type { PostId } from '../lib/ids.ts'

/** Where the lists of a removed post are put: before every level that a living post can have. */
const remainsLevel = -1

/** What a removed post leaves behind: the lists it held, kept with its overflow until they are cleared. */
export class Remains {
  constructor(
    private readonly overflow: Collections['overflow'],
    private readonly outbox: Outbox,
  ) {}

  /**
   * Moves the lists in removed posts to overflow documents, and emits an event whose subscriber deletes them. No entry is
   * lost if a process dies in between. Two commands, none for posts without engagement.
   */
  async keep(tx: Tx, posts: readonly PostDoc[]): Promise<void> {
    const engaged = posts.filter(({ counts }) => counts !== undefined)
    const docs = engaged.flatMap((post) =>
      engagementKinds.flatMap((kind): OverflowDoc[] => {
        const items = post[kind] ?? []
        const [first] = items
        if (!first) return []
        const _id = { post: post._id, kind, level: remainsLevel }
        return [{ _id, first: first._id, count: items.length, items }]
      }),
    )
    if (docs.length > 0) await this.overflow.insertMany(docs, { session: tx.session })
    const jobs = engaged.flatMap(({ _id }) =>
      reactionsTo('engagements.orphaned', { post: fromObjectId<PostId>(_id) }),
    )
    await this.outbox.enqueue(tx, jobs)
  }
}
