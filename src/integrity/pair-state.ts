import type { FollowEventDoc, RestrictionDoc } from '../db/collections.ts'
import type { ObjectId } from '../db/mongo.ts'
import { conforms } from '../db/shape.ts'
import { shapes } from '../db/shapes.ts'
import type { Tx } from '../db/transaction.ts'
import type { Edges, StoredEdge } from '../follows/edges.ts'
import { pairKey } from '../follows/pair-lists.ts'
import type { IntegrityServices } from './invariant.ts'

/** Two users: the first follows, followed or may follow the second. */
export interface Pair {
  readonly follower: string
  readonly followee: string
}

export type BlockKind = 'BLOCK' | 'BLOCKED_BY'
export const blockKinds: readonly BlockKind[] = ['BLOCK', 'BLOCKED_BY']

/** A restriction that a block consists of, and the one that must be on the other side. */
type Block = Pick<RestrictionDoc, 'owner' | 'other'> & { readonly kind: BlockKind }
export const mirrorOf = ({ owner, other, kind }: Block): Block => ({
  ...{ owner: other, other: owner, kind: kind === 'BLOCK' ? 'BLOCKED_BY' : 'BLOCK' },
})
export const keyOf = ({ owner, other, kind }: Pick<RestrictionDoc, 'owner' | 'other' | 'kind'>) =>
  `${owner} ${other} ${kind}`

/** All that is stored about a pair. */
export interface PairState extends Pair {
  /** The latest event. */
  readonly last: FollowEventDoc | undefined
  /** Events of the same type as the event before them; also a first event that is UNFOLLOWED. */
  readonly repeats: readonly ObjectId[]
  /**
   * The number of FOLLOWED events minus the number of UNFOLLOWED events. 1 or 0 if they can
   * alternate in some order.
   */
  readonly balance: number
  readonly inFollowers: StoredEdge | undefined
  readonly inFollowing: StoredEdge | undefined
  /** One of the two blocks the other. The document of the block's owner decides, not its mirror. */
  readonly blocked: boolean
  /**
   * The restrictions of the follower about the followee that lack their document on the other side.
   */
  readonly unmirrored: readonly BlockKind[]
  /** One of the two has no account. */
  readonly gone: boolean
  /** One of the two accounts is being deleted: a job deletes the pair's data. */
  readonly leaving: boolean
  /** One of its documents has another shape, see `document-shapes`. */
  readonly malformed: boolean
}

/**
 * The two collections that hold each edge. `following` is undefined under `reverse-index`, which
 * has one collection.
 */
export function edgeCollections({ followers, following }: Edges) {
  const second = following.collection !== followers.collection
  return {
    followers: followers.collection,
    following: second ? following.collection : undefined,
  }
}

/** Reads pairs on the caller's snapshot. Five commands; four if edges have one collection. */
export async function readPairs(
  { collections, edges }: IntegrityServices,
  pairs: readonly Pair[],
  at: Tx,
): Promise<PairState[]> {
  const ids = [...new Set(pairs.flatMap(({ follower, followee }) => [follower, followee]))]
  const accounts = await collections.users.find({ _id: { $in: ids } }, { ...at }).toArray()
  const users = new Map(accounts.map((user) => [user._id, user]))
  const sides = edgeCollections(edges)
  const those = (toFilter: (pair: Pair) => object) => ({ $or: pairs.map(toFilter) })
  const asUser = those(({ follower, followee }) => ({ user: follower, followee }))
  const malformed = new Set<string>()
  const readSide = async (name: keyof typeof sides, filter: object) => {
    const stored = new Map<string, StoredEdge>()
    for (const doc of (await sides[name]?.find(filter, { ...at }).toArray()) ?? []) {
      const { follower = doc.user, followee = doc.user } = doc
      const key = pairKey({ follower, followee })
      stored.set(key, doc)
      if (!conforms(shapes[name], doc)) malformed.add(key)
    }
    return stored
  }
  const asFollower = those(({ follower, followee }) => ({ user: followee, follower }))
  const inFollowers = await readSide('followers', asFollower)
  const inFollowing = await readSide('following', asUser)
  const histories = new Map<string, History>()
  for await (const event of collections.follow_events.find(asUser, { ...at }).sort({ _id: 1 })) {
    const name = pairKey({ follower: event.user, followee: event.followee })
    if (!conforms(shapes.follow_events, event)) malformed.add(name)
    histories.set(name, withEvent(histories.get(name) ?? noHistory, event))
  }
  const ways = pairs.flatMap(({ follower, followee }) => [
    { owner: follower, other: followee, kind: { $in: [...blockKinds] } },
    { owner: followee, other: follower, kind: { $in: [...blockKinds] } },
  ])
  const found = await collections.restrictions.find({ $or: ways }, { ...at }).toArray()
  const blocks = new Set(found.map(keyOf))
  const wellFormed = new Set(found.filter((doc) => conforms(shapes.restrictions, doc)).map(keyOf))
  return pairs.map((pair) => {
    const name = pairKey(pair)
    const { follower: owner, followee: other } = pair
    const ends = [users.get(owner), users.get(other)]
    return {
      ...pair,
      ...(histories.get(name) ?? noHistory),
      inFollowers: inFollowers.get(name),
      inFollowing: inFollowing.get(name),
      blocked:
        blocks.has(keyOf({ owner, other, kind: 'BLOCK' })) ||
        blocks.has(keyOf({ owner: other, other: owner, kind: 'BLOCK' })),
      unmirrored: blockKinds.filter(
        (kind) =>
          wellFormed.has(keyOf({ owner, other, kind })) &&
          !wellFormed.has(keyOf(mirrorOf({ owner, other, kind }))),
      ),
      gone: ends.includes(undefined),
      leaving: ends.some((user) => user?.deletedAt !== undefined),
      malformed: malformed.has(name),
    }
  })
}

type History = Pick<PairState, 'last' | 'repeats' | 'balance'>
const noHistory: History = { last: undefined, repeats: [], balance: 0 }

const withEvent = ({ last, repeats, balance }: History, event: FollowEventDoc): History => ({
  last: event,
  repeats: (last?.type ?? 'UNFOLLOWED') === event.type ? [...repeats, event._id] : repeats,
  balance: balance + (event.type === 'FOLLOWED' ? 1 : -1),
})
