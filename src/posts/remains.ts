import type { Collections, OverflowDoc, PostDoc } from '../db/collections.ts'
import type { Tx } from '../db/transaction.ts'
import { engagementKinds } from '../engagement/kinds.ts'
import type { Outbox } from '../jobs/outbox.ts'

/** Where the lists of a removed post are put: before every level that a living post can have. */
const remainsLevel = -1

/** What a removed post leaves behind: the lists it held, kept with its overflow until they are cleared. */
export class Remains {
  constructor(
    private readonly overflow: Collections['overflow'],
    private readonly outbox: Outbox,
  ) {}

  /**
   * Moves what removed posts held in themselves into overflow, and promises to clear it there: nothing is lost in
   * between, and the promise stays small. One command, and one for each post that anybody engaged with.
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
    for (const { _id } of engaged) {
      await this.outbox.append(tx, 'engagements.orphaned', { post: _id.toHexString() })
    }
  }
}
