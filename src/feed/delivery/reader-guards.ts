import { randomBytes } from 'node:crypto'
import type { Collections, TimelineTx } from '../../db/collections.ts'
import { type Transactions, TryAgain, type Tx } from '../../db/transaction.ts'
import type { UserId } from '../../lib/ids.ts'
import type { Placement } from '../registry/placement.ts'

/** How long a guard lasts, in milliseconds. A removal begins again without it. */
const lifetimeMs = 86_400_000

/** The parts of {@link ReaderGuards}. */
export interface ReaderGuardParts {
  readonly collections: Pick<Collections, 'user_stats' | 'timeline_marks'>
  readonly transactions: Transactions
  readonly placement: Placement
}

/**
 * Keeps the removal of a former followee's posts from a timeline apart from a new follow, which adds them again.
 * In the database, every new edge changes the reader's `guard`, and so does a removal in the transaction that reads the
 * edges. On a cluster of their own, timelines have a guard there: the job of a new edge changes it before it adds posts,
 * and a removal happens only if it has not changed since before the edges were read. So a removal that is late, also one
 * of a process that lost its lease, removes nothing.
 */
export class ReaderGuards {
  constructor(private readonly parts: ReaderGuardParts) {}

  /** Makes earlier removals end without effect. Called after an edge is committed, before posts are added. One command. */
  async raise(reader: UserId): Promise<void> {
    const { placement, collections } = this.parts
    if (!placement.isSeparate) return
    await collections.timeline_marks.updateOne({ _id: guardOf(reader) }, renewed(), {
      upsert: true,
    })
  }

  /**
   * Removes entries from a reader's timelines, unless posts are wanted there.
   * @param isWanted reads the edges. In the given transaction, if there is one.
   * @returns false if the posts are wanted, or the reader has no account. Nothing was removed then.
   */
  async removeUnless(
    reader: UserId,
    isWanted: (tx?: Tx) => Promise<boolean>,
    remove: (tx: TimelineTx) => Promise<void>,
  ): Promise<boolean> {
    const { placement, collections, transactions } = this.parts
    if (!placement.isSeparate) {
      return transactions.run(async (tx) => {
        const guarded = await collections.user_stats.updateOne(
          { _id: reader },
          { $inc: { guard: 1 } },
          { session: tx.session },
        )
        if (guarded.matchedCount === 0 || (await isWanted(tx))) return false
        await remove(placement.join(tx))
        return true
      })
    }
    const { timeline_marks } = collections
    const _id = guardOf(reader)
    return placement.runOnCluster(async ({ session }) => {
      const guard = await timeline_marks.findOne({ _id })
      if (!guard) {
        await this.raise(reader)
        throw new TryAgain('the reader has a guard now')
      }
      if (await isWanted()) return false
      const { matchedCount } = await timeline_marks.updateOne(
        { _id, value: guard.value },
        renewed(),
        { session },
      )
      if (matchedCount === 0) throw new TryAgain('the reader has a new followee')
      await remove({ session })
      return true
    })
  }
}

const guardOf = (reader: UserId) => `reader:${reader}`

const renewed = () => {
  const value = { $literal: randomBytes(12).toString('base64') }
  return [{ $set: { value, expiresAt: { $add: ['$$NOW', lifetimeMs] } } }]
}
