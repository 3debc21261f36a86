import type { Collection, Document } from '../db/mongo.ts'
import type { Tx } from '../db/transaction.ts'
import type { StoredEdge } from '../follows/edges.ts'
import { confirmed, type Difference, type Tally, type Verdict, type VerifyServices } from './run.ts'
import { type HandleRange, within } from './walk.ts'

/** Who follows whom. */
export interface Pair {
  readonly follower: string
  readonly followee: string
}

/** A pair as differences name it. */
export const nameOf = ({ follower, followee }: Pair): string => `${follower}>${followee}`

/**
 * Edges of a range that both collections should hold and do not, or not as the same edge (law L3). Nothing under
 * `reverse-index`. Two commands, each of which seeks once for every edge.
 */
export function sideDifferences(
  services: VerifyServices,
  range: HandleRange,
  tally: Tally,
): AsyncGenerator<Difference> {
  const look = (some: readonly Pair[], tx: Tx) => looked(services, some, tx)
  return confirmed(services, suspects(services, range), look, tally)
}

async function* suspects(services: VerifyServices, range: HandleRange): AsyncGenerator<Pair> {
  const { followers, following } = collectionsOf(services)
  if (!following) return
  const same = { $expr: { $and: [{ $eq: ['$_id', '$$id'] }, { $eq: ['$source', '$$source'] }] } }
  const ahead = lonely(followers, following, range, {
    localField: 'follower',
    pair: { $expr: { $eq: ['$followee', '$$user'] } },
    same,
  })
  for await (const { user, follower = '' } of ahead) yield { follower, followee: user }
  // One that is stored otherwise was found above.
  const back = lonely(following, followers, range, {
    localField: 'followee',
    pair: { $expr: { $eq: ['$follower', '$$user'] } },
  })
  for await (const { user, followee = '' } of back) yield { follower: user, followee }
}

/** The edges of a range that have no counterpart. */
function lonely(
  from: Collection<StoredEdge>,
  to: Collection<StoredEdge>,
  range: HandleRange,
  { localField, pair, same }: { localField: string; pair: Document; same?: Document },
) {
  return from.aggregate<StoredEdge>([
    { $match: { user: within(range) } },
    { $project: { user: 1, [localField]: 1, source: 1 } },
    {
      $lookup: {
        from: to.collectionName,
        localField,
        foreignField: 'user',
        let: { user: '$user', id: '$_id', source: '$source' },
        pipeline: [
          { $match: pair },
          ...(same ? [{ $match: same }] : []),
          { $limit: 1 },
          { $project: { _id: 1 } },
        ],
        as: 'other',
      },
    },
    { $match: { other: { $size: 0 } } },
  ])
}

async function looked(services: VerifyServices, pairs: readonly Pair[], tx: Tx): Promise<Verdict> {
  const { followers, following } = collectionsOf(services)
  const [ahead, back] = [new Map<string, StoredEdge>(), new Map<string, StoredEdge>()]
  const inFollowers = pairs.map(({ follower, followee }) => ({ user: followee, follower }))
  for (const doc of await followers.find({ $or: inFollowers }, { ...tx }).toArray()) {
    ahead.set(nameOf({ follower: doc.follower ?? '', followee: doc.user }), doc)
  }
  const inFollowing = pairs.map(({ follower, followee }) => ({ user: follower, followee }))
  for (const doc of (await following?.find({ $or: inFollowing }, { ...tx }).toArray()) ?? []) {
    back.set(nameOf({ follower: doc.user, followee: doc.followee ?? '' }), doc)
  }
  const differences = pairs.flatMap((pair): Difference[] => {
    const subject = nameOf(pair)
    const [one, other] = [ahead.get(subject), back.get(subject)]
    const found = [one && 'followers', other && 'following'].filter(Boolean).join()
    const wrong = (expected: string, found: string): Difference[] => [
      { law: 'L3', kind: 'sides', subject, expected, found },
    ]
    if (!one !== !other) return wrong('in followers and in following', `in ${found} alone`)
    if (!one || !other) return []
    const [a, b] = [one, other].map(({ _id, source }) => `${_id} ${source}`)
    return a === b ? [] : wrong(`the same edge in both: ${a}`, `in following ${b}`)
  })
  return { differences }
}

function collectionsOf({ edges }: VerifyServices) {
  const { followers, following } = edges
  const second = following.collection !== followers.collection
  return {
    followers: followers.collection,
    following: second ? following.collection : undefined,
  }
}
