import type { Collection } from '../db/mongo.ts'
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
 * `reverse-index`. Two commands, each of which seeks once for every edge; on a sharded cluster every seek asks all shards.
 */
export async function* sideDifferences(
  services: VerifyServices,
  range: HandleRange,
  tally: Tally,
): AsyncGenerator<Difference> {
  const { followers, following } = collectionsOf(services)
  if (!following) return
  const ahead = lonely(followers, following, range, 'follower')
  yield* confirmed(services, ahead, (some, tx) => looked(services, some, tx), tally)
  const back = lonely(following, followers, range, 'followee')
  // One that is in followers too was told of above.
  const isAlone = ({ found }: Difference) => found === alone('following')
  const look = async (some: readonly Pair[], tx: Tx) => {
    const { differences } = await looked(services, some, tx)
    return { differences: differences.filter(isAlone) }
  }
  yield* confirmed(services, back, look, tally)
}

/** The edges of a range without the same one on the other side. Joined by `_id` alone, which the server does fastest. */
async function* lonely(
  from: Collection<StoredEdge>,
  to: Collection<StoredEdge>,
  range: HandleRange,
  field: 'follower' | 'followee',
): AsyncGenerator<Pair> {
  const other = field === 'follower' ? 'followee' : 'follower'
  const same = { user: `$${field}`, [other]: '$user', source: '$source' }
  const found = from.aggregate<StoredEdge>([
    { $match: { user: within(range) } },
    { $project: { user: 1, [field]: 1, source: 1 } },
    { $lookup: { from: to.collectionName, localField: '_id', foreignField: '_id', as: 'other' } },
    { $set: { other: { $first: '$other' } } },
    {
      $match: {
        $expr: { $or: Object.entries(same).map(([name, is]) => ({ $ne: [`$other.${name}`, is] })) },
      },
    },
  ])
  for await (const { user, ...edge } of found) {
    const { follower = user, followee = user } = edge
    yield { follower, followee }
  }
}

const alone = (name: string) => `in ${name} alone`

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
    if (!one !== !other) return wrong('in followers and in following', alone(found))
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
