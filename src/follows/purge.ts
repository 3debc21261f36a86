import { requestTimeout, singleBatch } from '../db/client.ts'
import type { Collections } from '../db/collections.ts'
import { lockedAgain } from '../db/collisions.ts'
import type { Filter } from '../db/mongo.ts'
import type { Transactions, Tx } from '../db/transaction.ts'
import { inRange, type KeyRange } from '../jobs/ranges.ts'
import type { Pause } from '../jobs/runner.ts'
import { rangeSliceMs, timeSlice } from '../jobs/time-slice.ts'
import type { UserId } from '../lib/ids.ts'
import type { RemovalRun, SplitRemoval } from '../users/deletion.ts'
import type { StatsChange, UserStats } from '../users/stats.ts'
import { type EdgeIndex, type Edges, type StoredEdge, toEdge } from './edges.ts'

/** Number of edges or restrictions removed in one transaction. */
const batchSize = 200
/** Number of history events removed in one command. */
const eventBatchSize = 1_000

/** The two sides of a block, each with the other. */
const mirrorKinds = [
  ['BLOCK', 'BLOCKED_BY'],
  ['BLOCKED_BY', 'BLOCK'],
] as const

/** Edges of a user in one direction, and what the other users lose with them. */
interface SomeEdges {
  readonly index: EdgeIndex
  readonly lost: StatsChange
  /** The other users. Default: all. */
  readonly range?: KeyRange | undefined
}

/**
 * Removes a deleted user from the graph: edges in both directions with the counters of the other
 * users, history, and mutes and blocks in both directions. Each batch is bounded and queries for
 * what is left: a crash loses nothing, a repeat changes nothing.
 */
export class GraphPurge {
  constructor(
    private readonly collections: Pick<Collections, 'follow_events' | 'restrictions'>,
    private readonly edges: Edges,
    private readonly stats: UserStats,
    private readonly transactions: Transactions,
  ) {}

  /**
   * Removes everything, or stops when the signal aborts. The removal is split if there are many
   * followers. Before the last writes are settled, the edges of the followers stay, with their
   * history, and so do mutes by others.
   */
  async removeUser(user: UserId, removal: SplitRemoval): Promise<Pause | undefined> {
    const { following } = this.edges
    // Until then, a post may be committed, and the edges say whose timelines hold it.
    if (removal.isSettled) {
      const ranges = await removal.cutFollowers()
      if (ranges.length > 1) return removal.split(ranges)
      await this.removeFollowers(user, removal)
    }
    const own = { index: following, lost: { followers: -1 } }
    await removeAll(removal, () => this.removeEdges(user, own))
    await removeAll(removal, () => this.removeEvents({ user }))
    if (removal.isSettled) {
      await removeAll(removal, () => this.removeEvents({ followee: user }))
      await removeAll(removal, () => this.removeMutesOf(user))
    }
    await removeAll(removal, () => this.removeRestrictions(user))
    return undefined
  }

  /**
   * Removes the edges of all followers, or of those in a range for about a second.
   * @returns 'unfinished' if edges are left in the range.
   */
  async removeFollowers(
    user: UserId,
    run: RemovalRun,
    range?: KeyRange,
  ): Promise<'unfinished' | undefined> {
    const edgesToFollowers = { index: this.edges.followers, lost: { following: -1 }, range }
    const isDone = await removeAll(
      run,
      () => this.removeEdges(user, edgesToFollowers),
      range && timeSlice(rangeSliceMs),
    )
    return isDone ? undefined : 'unfinished'
  }

  private async removeEdges(user: UserId, { index, lost, range }: SomeEdges): Promise<number> {
    // Of the last try. Most likely it collided on their counters.
    let others: readonly UserId[] = []
    const remove = async (tx: Tx) => {
      const among = range && { [index.other]: inRange(range) }
      const filter = { [index.owner]: user, ...among } as Filter<StoredEdge>
      const docs = await index.collection
        .find(filter, { ...singleBatch, session: tx.session })
        .limit(batchSize)
        .toArray()
      if (docs.length === 0) return 0
      others = docs.map((doc) => doc[index.other] as UserId)
      await this.edges.erase(
        tx,
        docs.map((doc) => toEdge(index, doc)),
      )
      await this.stats.changeLive(tx, new Map(others.map((other) => [other, lost])))
      return docs.length
    }
    return this.transactions.run(lockedAgain((tx) => this.stats.lock(tx, others), remove))
  }

  private async removeEvents(end: { user: UserId } | { followee: UserId }): Promise<number> {
    const { follow_events } = this.collections
    const events = await follow_events
      .find(end, { ...singleBatch, projection: { _id: 1, user: 1 } })
      .limit(eventBatchSize)
      .toArray()
    if (events.length === 0) return 0
    const users = [...new Set(events.map(({ user }) => user as UserId))]
    const batch = {
      ...end,
      user: { $in: users },
      _id: { $in: events.map(({ _id }) => _id) },
    }
    await follow_events.deleteMany(batch, { ...requestTimeout, hint: { _id: 1 } })
    return events.length
  }

  /** Removes mutes by others. */
  private async removeMutesOf(other: UserId): Promise<number> {
    const { restrictions } = this.collections
    const mutes = { other, kind: 'MUTE' } as const
    const docs = await restrictions.find(mutes, singleBatch).limit(batchSize).toArray()
    if (docs.length === 0) return 0
    const owners = docs.map(({ owner }) => owner)
    return this.transactions.run(async (tx) => {
      const some = { ...mutes, owner: { $in: owners } }
      const { deletedCount } = await restrictions.deleteMany(some, { session: tx.session })
      await this.stats.lock(tx, owners as UserId[])
      return deletedCount
    })
  }

  /**
   * Removes each side of a block with the other in one transaction. So blocks by others are found
   * without an index.
   */
  private async removeRestrictions(owner: UserId): Promise<number> {
    const { restrictions } = this.collections
    return this.transactions.run(async (tx) => {
      const { session } = tx
      const docs = await restrictions
        .find({ owner }, { ...singleBatch, session, hint: { owner: 1, other: 1, kind: 1 } })
        .limit(batchSize)
        .toArray()
      if (docs.length === 0) return 0
      const changed = new Set<UserId>([owner])
      for (const [kind, mirror] of mirrorKinds) {
        const others = docs.filter((doc) => doc.kind === kind).map(({ other }) => other)
        if (others.length === 0) continue
        const mirrors = { owner: { $in: others }, other: owner, kind: mirror }
        await restrictions.deleteMany(mirrors, { session })
        for (const other of others) changed.add(other as UserId)
      }
      const ids = docs.map(({ _id }) => _id)
      await restrictions.deleteMany({ owner, _id: { $in: ids } }, { session })
      await this.stats.lock(tx, [...changed])
      return docs.length
    })
  }
}

/**
 * Removes batches until nothing is left, or the time slice is over. @returns whether nothing is
 * left.
 */
async function removeAll(
  { signal, onRemoved }: RemovalRun,
  removeBatch: () => Promise<number>,
  isOver = () => false,
): Promise<boolean> {
  for (;;) {
    signal.throwIfAborted()
    const removed = await removeBatch()
    if (removed === 0) return true
    await onRemoved(removed)
    if (isOver()) return false
  }
}
