import type { Collections } from '../db/collections.ts'
import type { Collection } from '../db/mongo.ts'
import type { Tx } from '../db/transaction.ts'
import { type Pair, pairKey } from '../follows/last-events.ts'
import { chunks, groupBy } from '../lib/batch.ts'

/** The collections that store pairs: the fields of the two users, and the index that begins with them. */
const indexes = {
  followers: { follower: 'follower', followee: 'user', hint: { user: 1, follower: 1 }, where: {} },
  follow_events: {
    follower: 'user',
    followee: 'followee',
    hint: { user: 1, followee: 1, _id: 1, type: 1 },
    where: {},
  },
  /** Both directions of a block are stored. */
  restrictions: {
    follower: 'owner',
    followee: 'other',
    hint: { owner: 1, other: 1, kind: 1 },
    where: { kind: { $in: ['BLOCK', 'BLOCKED_BY'] } },
  },
} as const

const groupsPerCommand = 500

/**
 * Returns the keys of the pairs that a collection stores: edges, history or blocks.
 * One command per 500 followers or per 500 followees, whichever is less. It is covered by the index and examines
 * one key per pair; the hint saves the planner a trial per group.
 */
export async function storedPairs(
  collections: Pick<Collections, keyof typeof indexes>,
  tx: Tx,
  name: keyof typeof indexes,
  pairs: readonly Pair[],
): Promise<Set<string>> {
  const { hint, where, ...fields } = indexes[name]
  const byFollower = groupBy(pairs, ({ follower }) => follower)
  const byFollowee = groupBy(pairs, ({ followee }) => followee)
  const [groups, one, other] =
    byFollower.size < byFollowee.size
      ? [byFollower, 'follower' as const, 'followee' as const]
      : [byFollowee, 'followee' as const, 'follower' as const]
  const collection = collections[name] as unknown as Collection<Record<string, string>>
  const stored = new Set<string>()
  for (const group of chunks([...groups], groupsPerCommand)) {
    const $or = group.map(([user, some]) => ({
      [fields[one]]: user,
      [fields[other]]: { $in: some.map((pair) => pair[other]) },
      ...where,
    }))
    const projection = { _id: 0, [fields.follower]: 1, [fields.followee]: 1 }
    for await (const doc of collection.find({ $or }, { session: tx.session, hint, projection })) {
      const [follower, followee] = [doc[fields.follower], doc[fields.followee]] as [string, string]
      stored.add(pairKey({ follower, followee }))
    }
  }
  return stored
}
