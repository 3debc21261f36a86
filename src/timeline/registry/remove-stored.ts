import type { Collections } from '../../db/collections.ts'
import type { Collection } from '../../db/mongo.ts'
import type { Tx } from '../../db/transaction.ts'
import { DomainError } from '../../errors.ts'
import { descriptors, type MaterialisedName } from '../strategies/list.ts'

/**
 * Number of documents that one transaction removes. It takes about 20 ms, so other writes do not
 * wait long.
 */
const removalBatchSize = 1_000

/**
 * Removes up to 1,000 documents from each collection of a strategy that is being dropped. Two
 * commands for each.
 * @returns false if no document was left.
 */
export async function removeStoredBatch(
  collections: Collections,
  tx: Tx,
  name: MaterialisedName,
): Promise<boolean> {
  let removed = false
  for (const each of descriptors[name].collections) {
    if (await removeFrom(collections[each] as unknown as Collection, tx)) removed = true
  }
  return removed
}

/** The error of a drop that another process goes on with. */
export const takenOver = (name: MaterialisedName): DomainError =>
  new DomainError('CONFLICT', `Another process is dropping ${name}. Wait until it finishes.`)

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
