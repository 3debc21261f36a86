import type { Collections } from '../db/collections.ts'
import type { Collection } from '../db/mongo.ts'
import type { Tx } from '../db/transaction.ts'
import { clausesOf, type Pair, pairKey } from '../follows/pair-lists.ts'
import { chunks } from '../lib/batch.ts'

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
const pairsPerAnswer = 10_000

/**
 * Returns the keys of the pairs that a collection stores: edges, history or blocks.
 * One command per 500 groups of pairs with one follower or one followee. It is covered by the index and examines one
 * key per pair; the hint saves the planner a trial per group.
 */
export async function storedPairs(
  collections: Pick<Collections, keyof typeof indexes>,
  { session }: Tx,
  name: keyof typeof indexes,
  pairs: readonly Pair[],
): Promise<Set<string>> {
  const { hint, where, ...fields } = indexes[name]
  const collection = collections[name] as unknown as Collection<Record<string, string>>
  const stored = new Set<string>()
  const projection = { _id: 0, [fields.follower]: 1, [fields.followee]: 1 }
  const options = { session, hint, projection, batchSize: pairsPerAnswer }
  for (const group of chunks(clausesOf(pairs, fields), groupsPerCommand)) {
    const $or = group.map((clause) => ({ ...clause, ...where }))
    for await (const doc of collection.find({ $or }, options)) {
      const [follower, followee] = [doc[fields.follower], doc[fields.followee]] as [string, string]
      stored.add(pairKey({ follower, followee }))
    }
  }
  return stored
}
