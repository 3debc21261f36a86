import { atOnce, bounded } from '../db/client.ts'
import type { Collections, RestrictionDoc } from '../db/collections.ts'
import type { Filter } from '../db/mongo.ts'
import type { Transactions } from '../db/transaction.ts'
import type { UserId } from '../lib/ids.ts'
import type { Removal } from '../users/deletion.ts'
import type { StatsChange, UserStats } from '../users/stats.ts'
import { type Edges, type Side, type StoredEdge, toEdge } from './edges.ts'

/** Edges removed in one transaction, and restrictions in one command. */
const batchSize = 200
/** Lines of the history removed in one command. */
const eventBatchSize = 1_000

/**
 * Removes a deleted user from the graph: edges both ways with the counters of the other ends, history, and what
 * the user muted and blocked. What others muted or blocked of the user stays, so that coming back does not lift it.
 * Each batch is bounded and looks for what is left: a crash loses nothing, a repeat changes nothing.
 */
export class GraphPurge {
  constructor(
    private readonly collections: Pick<Collections, 'follow_events' | 'restrictions'>,
    private readonly edges: Edges,
    private readonly stats: UserStats,
    private readonly transactions: Transactions,
  ) {}

  /** Runs until nothing is left or the signal aborts. */
  async run(user: UserId, run: Removal): Promise<void> {
    const { followers, following } = this.edges
    await drain(run, () => this.removeEdges(followers, user, { following: -1 }, run))
    await drain(run, () => this.removeEdges(following, user, { followers: -1 }, run))
    await drain(run, () => this.removeEvents({ user }, run))
    await drain(run, () => this.removeEvents({ followee: user }, run))
    await drain(run, () => this.removeRestrictions(user, run))
  }

  private async removeEdges(
    side: Side,
    user: UserId,
    lost: StatsChange,
    { isDue }: Removal,
  ): Promise<number> {
    return this.transactions.run(async (tx) => {
      if (!(await isDue(tx))) return 0
      const filter = { [side.owner]: user } as Filter<StoredEdge>
      const docs = await side.collection
        .find(filter, { ...atOnce, session: tx.session })
        .limit(batchSize)
        .toArray()
      if (docs.length === 0) return 0
      await this.edges.erase(
        tx,
        docs.map((doc) => toEdge(side, doc)),
      )
      const others = docs.map((doc) => doc[side.other] as UserId)
      await this.stats.changeLive(tx, new Map(others.map((other) => [other, lost])))
      return docs.length
    })
  }

  private async removeEvents(
    end: { user: UserId } | { followee: UserId },
    { isDue }: Removal,
  ): Promise<number> {
    const { follow_events } = this.collections
    const found = await follow_events
      .find(end, { ...atOnce, projection: { _id: 1 } })
      .limit(eventBatchSize)
      .toArray()
    // Looked at after they were found: what is there before the handle is freed is not the next owner's.
    if (found.length === 0 || !(await isDue())) return 0
    const batch = { ...end, _id: { $in: found.map(({ _id }) => _id) } }
    await follow_events.deleteMany(batch, { ...bounded, hint: { _id: 1 } })
    return found.length
  }

  /** A block goes with its mirror, both as the transaction saw them: a purge that was held up meets the next owner's. */
  private async removeRestrictions(owner: UserId, { isDue }: Removal): Promise<number> {
    const { restrictions } = this.collections
    return this.transactions.run(async (tx) => {
      const { session } = tx
      if (!(await isDue(tx))) return 0
      const own = { owner, kind: { $in: ['MUTE', 'BLOCK'] as RestrictionDoc['kind'][] } }
      const found = await restrictions
        .find(own, { ...atOnce, session })
        .limit(batchSize)
        .toArray()
      if (found.length === 0) return 0
      const blocked = found.filter(({ kind }) => kind === 'BLOCK').map(({ other }) => other)
      if (blocked.length > 0) {
        const mirrors = { owner: { $in: blocked }, other: owner, kind: 'BLOCKED_BY' } as const
        await restrictions.deleteMany(mirrors, { session })
      }
      const ids = found.map(({ _id }) => _id)
      await restrictions.deleteMany({ owner, _id: { $in: ids } }, { session })
      return found.length
    })
  }
}

/** Removes one batch after the other until there is none. */
async function drain({ signal, onRemoved }: Removal, remove: () => Promise<number>): Promise<void> {
  for (;;) {
    signal.throwIfAborted()
    const removed = await remove()
    if (removed === 0) return
    await onRemoved(removed)
  }
}
