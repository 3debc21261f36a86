import type { Collections, FollowEventDoc } from '../db/collections.ts'
import type { ObjectId } from '../db/mongo.ts'
import type { Tx } from '../db/transaction.ts'
import type { Edges, StoredEdge } from '../follows/edges.ts'
import { keyOf } from './history.ts'
import { type Pair, sidesOf } from './sides.ts'

/** What is stored of a pair. */
export interface PairState extends Pair {
  /** The event that tells whether an edge stands. */
  readonly last: FollowEventDoc | undefined
  /** Events that say again what was so. */
  readonly repeats: readonly ObjectId[]
  /** The edge in `followers`, and in `following`. */
  readonly ahead: StoredEdge | undefined
  readonly back: StoredEdge | undefined
  /** Why there is to be no edge, whatever the history says. */
  readonly impossible: 'GONE' | 'BLOCK' | undefined
}

/** What was wrong with a pair, and what becomes of it. */
export type Mending =
  /** The edge joins the side, or both, where it lacked. */
  | 'RESTORED'
  /** It leaves both. */
  | 'REMOVED'
  /** It stood on both sides without a history, and gets one. */
  | 'RECORDED'
  /** What the history said twice is said once. */
  | 'REWRITTEN'

/** Where pairs are stored. */
export interface PairParts {
  readonly collections: Pick<Collections, 'users' | 'follow_events' | 'restrictions'>
  readonly edges: Edges
}

/** Those of the pairs that no job is about to clear, with what is stored of them. Five commands. */
export async function readPairs(
  { collections, edges }: PairParts,
  pairs: readonly Pair[],
  tx: Tx,
): Promise<PairState[]> {
  const ends = [...new Set(pairs.flatMap(({ follower, followee }) => [follower, followee]))]
  const accounts = await collections.users.find({ _id: { $in: ends } }, { ...tx }).toArray()
  const known = new Map(accounts.map((user) => [user._id, user]))
  const isLeaving = (handle: string) => known.get(handle)?.deletedAt !== undefined
  const left = pairs.filter((pair) => !isLeaving(pair.follower) && !isLeaving(pair.followee))
  if (left.length === 0) return []
  const sides = sidesOf(edges)
  const of = (follower: 'owner' | 'follower' | 'user', followee: 'other' | 'followee' | 'user') =>
    left.map((pair) => ({ [follower]: pair.follower, [followee]: pair.followee }))
  const [ahead, back] = [new Map<string, StoredEdge>(), new Map<string, StoredEdge>()]
  const inFollowers = { $or: of('follower', 'user') }
  for (const doc of await sides.followers.find(inFollowers, { ...tx }).toArray()) {
    ahead.set(keyOf({ follower: doc.follower ?? '', followee: doc.user }), doc)
  }
  const inFollowing = { $or: of('user', 'followee') }
  for (const doc of (await sides.following?.find(inFollowing, { ...tx }).toArray()) ?? []) {
    back.set(keyOf({ follower: doc.user, followee: doc.followee ?? '' }), doc)
  }
  const events = collections.follow_events.find(inFollowing, { ...tx }).sort({ _id: 1 })
  const histories = historiesIn(await events.toArray())
  const kind = { $in: ['BLOCK', 'BLOCKED_BY'] as ('BLOCK' | 'BLOCKED_BY')[] }
  const between = collections.restrictions.find({ $or: of('owner', 'other'), kind }, { ...tx })
  const blocked = new Set(
    (await between.toArray()).map(({ owner, other }) =>
      keyOf({ follower: owner, followee: other }),
    ),
  )
  return left.map((pair) => {
    const key = keyOf(pair)
    const { last, repeats = [] } = histories.get(key) ?? {}
    const gone = !known.has(pair.follower) || !known.has(pair.followee)
    const impossible = gone ? 'GONE' : blocked.has(key) ? 'BLOCK' : undefined
    return { ...pair, last, repeats, ahead: ahead.get(key), back: back.get(key), impossible }
  })
}

interface History {
  last?: FollowEventDoc
  readonly repeats: ObjectId[]
}

function historiesIn(events: readonly FollowEventDoc[]): ReadonlyMap<string, History> {
  const histories = new Map<string, History>()
  for (const event of events) {
    const key = keyOf({ follower: event.user, followee: event.followee })
    const history: History = histories.get(key) ?? { repeats: [] }
    histories.set(key, history)
    if ((history.last?.type ?? 'UNFOLLOWED') === event.type) history.repeats.push(event._id)
    else history.last = event
  }
  return histories
}

/** @returns undefined when all is as it should be. */
export function mendingOf(
  { last, repeats, ahead, back, impossible }: PairState,
  twoSides: boolean,
): Mending | undefined {
  const [one, both] = [ahead ?? back, twoSides ? ahead && back : ahead]
  const rewritten = repeats.length > 0 ? 'REWRITTEN' : undefined
  if (impossible === 'GONE') return one || last || rewritten ? 'REMOVED' : undefined
  if (impossible) return one || last?.type === 'FOLLOWED' ? 'REMOVED' : rewritten
  if (last?.type === 'UNFOLLOWED') return one ? 'REMOVED' : rewritten
  if (!last) return both ? 'RECORDED' : one ? 'REMOVED' : rewritten
  const same = !twoSides || (ahead?._id.equals(back?._id ?? '') && ahead?.source === back?.source)
  return both && same ? rewritten : 'RESTORED'
}
