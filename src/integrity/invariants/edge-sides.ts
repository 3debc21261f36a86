import type { Collection, ObjectId } from '../../db/mongo.ts'
import type { StoredEdge } from '../../follows/edges.ts'
import { type PairRule, pairInvariant } from '../edge-repair.ts'
import type { IntegrityServices } from '../invariant.ts'
import { edgeCollections, type Pair } from '../pairs.ts'
import { historyRule, inconsistentPairs } from './edge-history.ts'

const sidesRule: PairRule = { name: 'edge-sides', law: 'L3', kinds: ['sides'] }

/**
 * Law L3: both collections hold the same edges. Scans all edges in a range of ids. Checks nothing under
 * `reverse-index`.
 * @param onRead called for each range with the number of documents that were read.
 */
export const edgeSides = (services: IntegrityServices, onRead: (documents: number) => void) =>
  pairInvariant(services, [sidesRule], async function* (ids: object) {
    const { followers, following } = edgeCollections(services.edges)
    if (following) yield* mismatchedEdges(followers, following, ids, onRead)
  })

/**
 * Checks {@link edgeSides} and {@link edgeHistory} together, for the edges of some users. Cheaper than both for few
 * users. The range is a condition on a handle.
 */
export const edgesOf = (services: IntegrityServices) =>
  pairInvariant(services, [sidesRule, historyRule], async function* (handles: object) {
    const { followers, following } = edgeCollections(services.edges)
    if (following) {
      yield* unmatchedEdges(followers, following, handles, 'follower')
      yield* unmatchedEdges(following, followers, handles, 'followee')
    }
    yield* inconsistentPairs(services, handles)
  })

/**
 * Yields the edges of some users in one collection without the same edge in the other. Joins by `_id` alone, which is
 * the fastest join of the server. One command that seeks once for each edge. On a sharded cluster each seek asks all
 * shards.
 * @param field the field of `from` that names the other end.
 */
async function* unmatchedEdges(
  from: Collection<StoredEdge>,
  to: Collection<StoredEdge>,
  handles: object,
  field: 'follower' | 'followee',
): AsyncGenerator<Pair> {
  const other = field === 'follower' ? 'followee' : 'follower'
  const same = { user: `$${field}`, [other]: '$user', source: '$source' }
  const found = from.aggregate<StoredEdge>([
    { $match: { user: handles } },
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

/** The most edges in one answer of the server. */
const readAtOnce = 5_000

/**
 * Yields the edges that differ between the collections. Two commands in the order of `_id`, merged. This costs a
 * hundredth of a seek for each edge.
 * @param ids a condition on an edge's id.
 * @param onRead called at the end with the number of documents that were read.
 */
async function* mismatchedEdges(
  followers: Collection<StoredEdge>,
  following: Collection<StoredEdge>,
  ids: object,
  onRead: (documents: number) => void,
): AsyncGenerator<Pair> {
  let documents = 0
  const read = (from: Collection<StoredEdge>) =>
    from
      .find({ _id: ids }, { batchSize: readAtOnce, projection: { groups: 0 } })
      .sort({ _id: 1 })
      [Symbol.asyncIterator]()
  const [left, right] = [read(followers), read(following)]
  try {
    let [one, other] = [await left.next(), await right.next()]
    const next = (side: typeof left) => {
      documents++
      return side.next()
    }
    while (!one.done || !other.done) {
      const order = one.done ? 1 : other.done ? -1 : orderOf(one.value._id, other.value._id)
      if (order <= 0 && !one.done) {
        const inFollowers = one.value
        const inFollowing = order === 0 && !other.done ? other.value : undefined
        const same =
          inFollowing?.user === inFollowers.follower &&
          inFollowing?.followee === inFollowers.user &&
          inFollowing?.source === inFollowers.source
        if (!same) yield { follower: inFollowers.follower ?? '', followee: inFollowers.user }
        if (inFollowing && !same) {
          yield { follower: inFollowing.user, followee: inFollowing.followee ?? '' }
        }
        one = await next(left)
        if (order === 0) other = await next(right)
      } else if (!other.done) {
        yield { follower: other.value.user, followee: other.value.followee ?? '' }
        other = await next(right)
      }
    }
    onRead(documents)
  } finally {
    await left.return?.()
    await right.return?.()
  }
}

const orderOf = (one: ObjectId, other: ObjectId) =>
  Buffer.compare(one.id as Buffer, other.id as Buffer)
