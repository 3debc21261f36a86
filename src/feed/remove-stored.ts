import type { CollectionName, Collections } from '../db/collections.ts'
import type { Collection } from '../db/mongo.ts'
import type { Tx } from '../db/transaction.ts'
import { descriptors, type MaterialisedName, sharersOf } from './strategies/list.ts'

/** Documents that one transaction removes at most: some 20 ms, so that other writes do not wait long. */
const removedAtOnce = 1_000

/**
 * Removes a bounded part of what a strategy has stored. Two commands for each of its collections, and one more where
 * it shares any: a collection that another maintained strategy shares stays as it is.
 * @returns false when nothing was left.
 */
export async function removeSome(
  collections: Collections,
  tx: Tx,
  name: MaterialisedName,
): Promise<boolean> {
  const { own, shared } = descriptors[name].collections
  const used = await sharedCollections(collections, tx, sharersOf(name))
  let removed = false
  for (const each of [...own, ...shared.filter((one) => !used.has(one))]) {
    if (await removeFrom(collections[each] as unknown as Collection, tx)) removed = true
  }
  return removed
}

/** The shared collections of those of some strategies that are maintained. One command, none without strategies. */
async function sharedCollections(
  { strategies }: Collections,
  tx: Tx,
  names: readonly MaterialisedName[],
): Promise<ReadonlySet<CollectionName>> {
  if (names.length === 0) return new Set()
  const maintained = { _id: { $in: [...names] }, dropping: { $exists: false } }
  const found = await strategies.find(maintained, { ...tx, projection: { _id: 1 } }).toArray()
  const some = found.map(({ _id }) => descriptors[_id as MaterialisedName])
  return new Set(some.flatMap(({ collections: { shared } }) => shared))
}

async function removeFrom(collection: Collection, { session }: Tx): Promise<boolean> {
  const some = await collection
    .find({}, { session, projection: { _id: 1 } })
    .sort({ _id: 1 })
    .limit(removedAtOnce)
    .toArray()
  const last = some.at(-1)
  if (!last) return false
  // A range, not a list of keys: MongoDB 6 serves a list on a clustered collection by a scan of it.
  await collection.deleteMany({ _id: { $lte: last._id } }, { session })
  return true
}
