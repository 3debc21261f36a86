import type { Collections, FollowEventDoc } from '../db/collections.ts'
import type { ObjectId } from '../db/mongo.ts'
import { conforms, shapes } from '../db/shapes.ts'
import type { Tx } from '../db/transaction.ts'
import type { Edges, StoredEdge } from '../follows/edges.ts'
import { edgeCollections, nameOf, type Pair } from './pairs.ts'

/** All that is stored about a pair. */
export interface PairState extends Pair {
  /** The latest event. */
  readonly last: FollowEventDoc | undefined
  /** Events of the same type as the event before them; also a first event that is UNFOLLOWED. */
  readonly repeats: readonly ObjectId[]
  /**
   * The number of FOLLOWED events minus the number of UNFOLLOWED events. 1 or 0 if they can alternate in some order.
   */
  readonly balance: number
  readonly inFollowers: StoredEdge | undefined
  readonly inFollowing: StoredEdge | undefined
  /** One of the two blocks the other. The document of the block's owner decides, not its mirror. */
  readonly blocked: boolean
  /** One of the two has no account. */
  readonly gone: boolean
  /** One of the two accounts is being deleted: a job deletes the pair's data. */
  readonly leaving: boolean
  /** One of its documents has another shape, see `document-shapes`. */
  readonly malformed: boolean
}

/** Reads pairs on the caller's snapshot. Five commands; four if edges have one collection. */
export async function readPairs(
  {
    collections,
    edges,
  }: {
    readonly collections: Pick<Collections, 'users' | 'follow_events' | 'restrictions'>
    readonly edges: Edges
  },
  pairs: readonly Pair[],
  at: Tx,
): Promise<PairState[]> {
  const handles = [...new Set(pairs.flatMap(({ follower, followee }) => [follower, followee]))]
  const accounts = await collections.users.find({ _id: { $in: handles } }, { ...at }).toArray()
  const known = new Map(accounts.map((user) => [user._id, user]))
  const sides = edgeCollections(edges)
  const those = (toFilter: (pair: Pair) => object) => ({ $or: pairs.map(toFilter) })
  const [inFollowers, inFollowing] = [new Map<string, StoredEdge>(), new Map<string, StoredEdge>()]
  const malformed = new Set<string>()
  const asFollower = those(({ follower, followee }) => ({ user: followee, follower }))
  for (const doc of await sides.followers.find(asFollower, { ...at }).toArray()) {
    const name = nameOf({ follower: doc.follower ?? '', followee: doc.user })
    inFollowers.set(name, doc)
    if (!conforms(shapes.followers, doc)) malformed.add(name)
  }
  const asUser = those(({ follower, followee }) => ({ user: follower, followee }))
  for (const doc of (await sides.following?.find(asUser, { ...at }).toArray()) ?? []) {
    const name = nameOf({ follower: doc.user, followee: doc.followee ?? '' })
    inFollowing.set(name, doc)
    if (!conforms(shapes.following, doc)) malformed.add(name)
  }
  const events = await collections.follow_events
    .find(asUser, { ...at })
    .sort({ _id: 1 })
    .toArray()
  for (const event of events) {
    const name = nameOf({ follower: event.user, followee: event.followee })
    if (!conforms(shapes.follow_events, event)) malformed.add(name)
  }
  const histories = historiesIn(events)
  const ways = pairs.flatMap(({ follower, followee }) => [
    { owner: follower, other: followee, kind: 'BLOCK' as const },
    { owner: followee, other: follower, kind: 'BLOCK' as const },
  ])
  const blocks = await collections.restrictions.find({ $or: ways }, { ...at }).toArray()
  const blocked = new Set(
    blocks.flatMap(({ owner, other }) => [
      nameOf({ follower: owner, followee: other }),
      nameOf({ follower: other, followee: owner }),
    ]),
  )
  return pairs.map((pair) => {
    const name = nameOf(pair)
    const ends = [known.get(pair.follower), known.get(pair.followee)]
    return {
      ...pair,
      ...(histories.get(name) ?? noHistory()),
      inFollowers: inFollowers.get(name),
      inFollowing: inFollowing.get(name),
      blocked: blocked.has(name),
      gone: ends.includes(undefined),
      leaving: ends.some((user) => user?.deletedAt !== undefined),
      malformed: malformed.has(name),
    }
  })
}

interface History {
  last: FollowEventDoc | undefined
  readonly repeats: ObjectId[]
  balance: number
}

const noHistory = (): History => ({ last: undefined, repeats: [], balance: 0 })

function historiesIn(events: readonly FollowEventDoc[]): ReadonlyMap<string, History> {
  const histories = new Map<string, History>()
  for (const event of events) {
    const name = nameOf({ follower: event.user, followee: event.followee })
    const history = histories.get(name) ?? noHistory()
    histories.set(name, history)
    if ((history.last?.type ?? 'UNFOLLOWED') === event.type) history.repeats.push(event._id)
    history.balance += event.type === 'FOLLOWED' ? 1 : -1
    history.last = event
  }
  return histories
}
