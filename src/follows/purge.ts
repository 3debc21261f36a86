import type { Collections } from '../db/collections.ts'
import type { Filter } from '../db/mongo.ts'
import type { Transactions } from '../db/transaction.ts'
import type { UserId } from '../lib/ids.ts'
import type { StatsChange, UserStats } from '../users/stats.ts'
import { type Edges, type Side, type StoredEdge, toEdge } from './edges.ts'

/** Edges removed in one transaction. */
const batchSize = 200

/**
 * Removes a deleted user from the graph: edges both ways with the counters of the other ends, history, and what
 * the user muted and blocked. What others muted or blocked of the user stays, so that coming back does not lift it.
 * Each batch is one transaction that looks for what is left: a crash loses nothing, a repeat changes nothing.
 */
export class GraphPurge {
  constructor(
    private readonly collections: Pick<Collections, 'follow_events' | 'restrictions'>,
    private readonly edges: Edges,
    private readonly stats: UserStats,
    private readonly transactions: Transactions,
  ) {}

  /** Runs until nothing is left or `signal` aborts. */
  async run(user: UserId, signal: AbortSignal): Promise<void> {
    await this.drain(this.edges.followers, user, { following: -1 }, signal)
    await this.drain(this.edges.following, user, { followers: -1 }, signal)
    const { follow_events, restrictions } = this.collections
    await follow_events.deleteMany({ user })
    await follow_events.deleteMany({ followee: user })
    const own = restrictions.find({ owner: user, kind: { $in: ['MUTE', 'BLOCK'] } })
    for await (const { other, kind } of own) {
      signal.throwIfAborted()
      if (kind === 'BLOCK') {
        await restrictions.deleteOne({ owner: other, other: user, kind: 'BLOCKED_BY' })
      }
      await restrictions.deleteOne({ owner: user, other, kind })
    }
  }

  private async drain(side: Side, user: UserId, lost: StatsChange, signal: AbortSignal) {
    for (let left = true; left; ) {
      signal.throwIfAborted()
      left = await this.transactions.run(async (tx) => {
        const filter = { [side.owner]: user } as Filter<StoredEdge>
        const docs = await side.collection
          .find(filter, { session: tx.session })
          .limit(batchSize)
          .toArray()
        if (docs.length === 0) return false
        await this.edges.remove(
          tx,
          docs.map((doc) => toEdge(side, doc)),
        )
        const others = docs.map((doc) => doc[side.other] as UserId)
        await this.stats.changeLive(tx, new Map(others.map((other) => [other, lost])))
        return true
      })
    }
  }
}
