import type { CollectionName, Collections } from '../db/collections.ts'
import type { Collection } from '../db/mongo.ts'
import type { Tx } from '../db/transaction.ts'
import type { MaterialisedName } from './strategies/strategy.ts'

/** Documents that one transaction removes at most: some 20 ms, so that other writes do not wait long. */
const removedAtOnce = 1_000

/** What belongs to each strategy alone. */
const own: Readonly<Record<MaterialisedName, readonly CollectionName[]>> = {
  TIME_BUCKETS: ['timed_buckets'],
  SIZED_BUCKETS: ['sized_buckets'],
  CACHE: ['timeline_cache'],
  INBOX: [],
  HYBRID: ['celebrities', 'pulled_authors'],
}

/** The strategies that store in the same collection: what is stored there stays while the other one is maintained. */
export const sharing: Readonly<Partial<Record<MaterialisedName, MaterialisedName>>> = {
  INBOX: 'HYBRID',
  HYBRID: 'INBOX',
}

/**
 * Removes a bounded part of what a strategy has stored. Two commands for each of its collections.
 * @param withShared whether what INBOX and HYBRID both store goes, too.
 * @returns false when nothing was left.
 */
export async function removeSome(
  collections: Collections,
  tx: Tx,
  name: MaterialisedName,
  withShared: boolean,
): Promise<boolean> {
  const names = [...own[name], ...(sharing[name] && withShared ? (['inbox'] as const) : [])]
  let removed = false
  for (const each of names) {
    if (await removeFrom(collections[each] as unknown as Collection, tx)) removed = true
  }
  return removed
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

/**
 * Before INBOX is dropped: what it delivered of celebrities stays in the inboxes while HYBRID is maintained, so any of
 * their posts may be stored. One command.
 */
export async function assumeStored({
  celebrities,
}: Pick<Collections, 'celebrities'>): Promise<void> {
  await celebrities.updateMany({ readFrom: { $exists: true } }, { $unset: { readFrom: '' } })
}
