import { singleBatch } from '../db/client.ts'
import type { Collections } from '../db/collections.ts'
import { fromObjectId, toObjectId } from '../db/object-id.ts'
import type { Tx } from '../db/transaction.ts'
import type { EdgeId } from '../lib/ids.ts'
import { clausesOf, type Pair, pairKey } from './pair-lists.ts'

/**
 * The last event of each pair with an id not below the lowest of `ids`, by {@link pairKey}. Most
 * pairs have none. One covered command, which examines a key for each such event.
 */
export async function lastEvents(
  { follow_events }: Pick<Collections, 'follow_events'>,
  { session }: Tx,
  pairs: readonly Pair[],
  ids: readonly EdgeId[],
): Promise<ReadonlyMap<string, EdgeId>> {
  const _id = { $gte: toObjectId(ids.reduce((one, other) => (one < other ? one : other))) }
  const clauses = clausesOf(pairs, { follower: 'user', followee: 'followee' })
  const events = await follow_events
    .find(
      { $or: clauses.map((clause) => ({ ...clause, _id })) },
      {
        ...singleBatch,
        session,
        projection: { user: 1, followee: 1 },
        hint: { user: 1, followee: 1, _id: 1, type: 1 },
      },
    )
    .toArray()
  const last = new Map<string, EdgeId>()
  for (const { _id: event, user, followee } of events) {
    const [key, id] = [pairKey({ follower: user, followee }), fromObjectId<EdgeId>(event)]
    const before = last.get(key)
    if (before === undefined || before < id) last.set(key, id)
  }
  return last
}
