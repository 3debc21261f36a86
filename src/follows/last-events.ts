import { singleBatch } from '../db/client.ts'
import type { Collections } from '../db/collections.ts'
import { fromObjectId, toObjectId } from '../db/object-id.ts'
import type { Tx } from '../db/transaction.ts'
import { groupBy } from '../lib/batch.ts'
import type { EdgeId, UserId } from '../lib/ids.ts'

/** A follower and a followee, with or without an edge. */
export interface Pair {
  readonly follower: UserId
  readonly followee: UserId
}

/** The key of a pair in a map. */
export const pairKey = ({ follower, followee }: { follower: string; followee: string }): string =>
  `${follower}>${followee}`

/**
 * The last event of each pair with an id not below the lowest of `ids`, by {@link pairKey}. Most pairs have none. One
 * covered command, which examines a key for each such event.
 */
export async function lastEvents(
  { follow_events }: Pick<Collections, 'follow_events'>,
  { session }: Tx,
  pairs: readonly Pair[],
  ids: readonly EdgeId[],
): Promise<ReadonlyMap<string, EdgeId>> {
  const _id = { $gte: toObjectId(ids.reduce((one, other) => (one < other ? one : other))) }
  const found = await follow_events
    .find(
      { $or: clausesOf(pairs).map((clause) => ({ ...clause, _id })) },
      {
        ...singleBatch,
        session,
        projection: { user: 1, followee: 1 },
        hint: { user: 1, followee: 1, _id: 1, type: 1 },
      },
    )
    .toArray()
  const last = new Map<string, EdgeId>()
  for (const { _id: event, user, followee } of found) {
    const [key, id] = [pairKey({ follower: user, followee }), fromObjectId<EdgeId>(event)]
    const before = last.get(key)
    if (before === undefined || before < id) last.set(key, id)
  }
  return last
}

/** Groups the pairs into few clauses: each pair by its follower or its followee, whichever has more pairs. */
function clausesOf(pairs: readonly Pair[]) {
  const ofFollower = groupBy(pairs, ({ follower }) => follower)
  const ofFollowee = groupBy(pairs, ({ followee }) => followee)
  const sizeOf = (group: readonly Pair[] | undefined) => group?.length ?? 0
  const isToOne = ({ follower, followee }: Pair) =>
    sizeOf(ofFollowee.get(followee)) >= sizeOf(ofFollower.get(follower))
  const toOne = groupBy(pairs.filter(isToOne), ({ followee }) => followee)
  const fromOne = groupBy(
    pairs.filter((pair) => !isToOne(pair)),
    ({ follower }) => follower,
  )
  return [
    ...[...toOne].map(([followee, some]) => ({
      user: { $in: some.map(({ follower }) => follower) },
      followee,
    })),
    ...[...fromOne].map(([user, some]) => ({
      user,
      followee: { $in: some.map(({ followee }) => followee) },
    })),
  ]
}
