import type { Collection, ObjectId } from '../../db/mongo.ts'
import type { StoredEdge } from '../../follows/edges.ts'
import { type PairRule, pairInvariant } from '../edge-repair.ts'
import type { IntegrityServices } from '../invariant.ts'
import { edgeCollections, type Pair } from '../pairs.ts'
import { historyRule, inconsistentPairs } from './edge-history.ts'

const sidesRule: PairRule = { name: 'edge-sides', law: 'L3', kinds: ['sides'] }

/**
 * Law L3: both collections hold the same edges. Scans all edges of a stretch of ids. Nothing under `reverse-index`.
 * @param onRead called for each stretch with the number of documents that were read.
 */
export const edgeSides = (services: IntegrityServices, onRead: (documents: number) => void) =>
  pairInvariant(services, [sidesRule], async function* (ids: object) {
    const { followers, following } = edgeCollections(services.edges)
    if (following) yield* mismatchedEdges(followers, following, ids, onRead)
  })

/**
 * As {@link edgeSides} and {@link edgeHistory} together, of the edges of some users: cheaper where they are few. The
 * range is a condition on a handle.
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
 * The edges of some users in one collection without the same edge in the other. Joined by `_id` alone, which the server
 * does fastest. One command that seeks once for each edge. On a sharded cluster each seek asks all shards.
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

/** Edges in one answer of the server. */
const readAtOnce = 5_000

/**
 * The edges that are not the same in both collections. Two commands in the order of `_id`, merged: a hundredth of the
 * cost of a seek for each edge.
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
        const ahead = one.value
        const back = order === 0 && !other.done ? other.value : undefined
        const same =
          back?.user === ahead.follower &&
          back?.followee === ahead.user &&
          back?.source === ahead.source
        if (!same) yield { follower: ahead.follower ?? '', followee: ahead.user }
        if (back && !same) yield { follower: back.user, followee: back.followee ?? '' }
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
