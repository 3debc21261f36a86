import type { CollectionName, Collections, TimelineCollectionName } from '../../db/collections.ts'
import { timelineCollectionNames } from '../../db/collections.ts'
import type { Collection, ObjectId } from '../../db/mongo.ts'
import { TimelinesAway } from '../../db/timelines-cluster.ts'
import type { Tx } from '../../db/transaction.ts'
import { DomainError } from '../../errors.ts'
import { descriptors, type MaterialisedName, sharersOf } from '../strategies/list.ts'
import type { Placement } from './placement.ts'

/** Number of documents that one transaction removes. It takes about 20 ms, so other writes do not wait long. */
const removalBatchSize = 1_000

const isOfTimelines = (name: CollectionName): name is TimelineCollectionName =>
  (timelineCollectionNames as readonly string[]).includes(name)

/**
 * Removes the stored timelines of a strategy that is being dropped. On a cluster of their own, each removal is a
 * transaction of the cluster. It ends without effect unless the cluster holds the mark of this drop, so a removal that is
 * late cannot reach timelines of a later registration.
 */
export class StoredRemoval {
  constructor(
    private readonly collections: Collections,
    private readonly placement: Placement,
  ) {}

  /** Begins the removal. One command on a timelines cluster, otherwise none. */
  async begin(name: MaterialisedName, epoch: ObjectId): Promise<void> {
    if (!this.placement.isSeparate) return
    const value = epoch.toHexString()
    const { timeline_marks } = this.collections
    await timeline_marks.updateOne({ _id: markOf(name) }, { $set: { value } }, { upsert: true })
  }

  /**
   * Ends the removal, or without `epoch` any removal, of a strategy that is not registered. One command on a timelines
   * cluster, otherwise none.
   */
  async end(name: MaterialisedName, epoch?: ObjectId): Promise<void> {
    if (!this.placement.isSeparate) return
    const { timeline_marks } = this.collections
    const value = epoch && { value: epoch.toHexString() }
    await timeline_marks.deleteOne({ _id: markOf(name), ...value })
  }

  /**
   * Whether a removal may still remove timelines that a new registration of the strategy would store. One command on a
   * timelines cluster, if the strategy shares collections. Otherwise none.
   */
  async isDisturbed(tx: Tx, name: MaterialisedName): Promise<boolean> {
    const sharers = sharersOf(name)
    if (!this.placement.isSeparate || sharers.length === 0) return false
    const dropping = { _id: { $in: [...sharers] }, dropping: true } as const
    return (await this.collections.strategies.findOne(dropping, tx)) !== null
  }

  /**
   * Removes up to 1,000 documents from each collection of a strategy, except collections that another maintained strategy
   * shares. Two commands for each collection, and one more if the strategy shares any.
   * @returns false if no document was left.
   */
  async removeBatch(tx: Tx, name: MaterialisedName, epoch: ObjectId): Promise<boolean> {
    const { own, shared } = descriptors[name].collections
    const used = await sharedCollections(this.collections, tx, sharersOf(name))
    const all = [...own, ...shared.filter((one) => !used.has(one))]
    const { isSeparate } = this.placement
    const others = all.filter((one) => isSeparate && isOfTimelines(one))
    let removed = false
    for (const each of all.filter((one) => !others.includes(one))) {
      if (await removeFrom(this.handleOf(each), tx)) removed = true
    }
    if (others.length > 0 && (await this.removeFromCluster(others, name, epoch))) removed = true
    return removed
  }

  private async removeFromCluster(
    names: readonly CollectionName[],
    strategy: MaterialisedName,
    epoch: ObjectId,
  ): Promise<boolean> {
    const { timeline_marks } = this.collections
    const value = epoch.toHexString()
    return this.placement.runOnCluster(async (tx) => {
      const mark = { _id: markOf(strategy), value }
      const removed = { $currentDate: { removedAt: true } } as const
      const { matchedCount } = await timeline_marks.updateOne(mark, removed, tx)
      if (matchedCount === 0)
        throw new TimelinesAway(`the timelines cluster has lost its data. Drop ${strategy} again.`)
      let isAny = false
      for (const each of names) if (await removeFrom(this.handleOf(each), tx)) isAny = true
      return isAny
    })
  }

  private handleOf(name: CollectionName): Collection {
    return this.collections[name] as unknown as Collection
  }
}

/** The error of a drop that another process goes on with. */
export const takenOver = (name: MaterialisedName): DomainError =>
  new DomainError('CONFLICT', `Another process is dropping ${name}. Wait until it finishes.`)

const markOf = (name: MaterialisedName) => `drop:${name}`

/** Loads the shared collections of the named strategies that are maintained. One command, none without names. */
async function sharedCollections(
  { strategies }: Collections,
  tx: Tx,
  names: readonly MaterialisedName[],
): Promise<ReadonlySet<CollectionName>> {
  if (names.length === 0) return new Set()
  const maintained = { _id: { $in: [...names] }, dropping: { $exists: false } }
  const found = await strategies.find(maintained, { ...tx, projection: { _id: 1 } }).toArray()
  const sharers = found.map(({ _id }) => descriptors[_id as MaterialisedName])
  return new Set(sharers.flatMap(({ collections: { shared } }) => shared))
}

async function removeFrom(collection: Collection, { session }: Tx): Promise<boolean> {
  const batch = await collection
    .find({}, { session, projection: { _id: 1 } })
    .sort({ _id: 1 })
    .limit(removalBatchSize)
    .toArray()
  const last = batch.at(-1)
  if (!last) return false
  // A range, not a list of keys: MongoDB 6 serves a list on a clustered collection by a scan of it.
  await collection.deleteMany({ _id: { $lte: last._id } }, { session })
  return true
}
