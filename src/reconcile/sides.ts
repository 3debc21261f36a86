import type { Collection, ObjectId } from '../db/mongo.ts'
import { highestId } from '../db/object-id.ts'
import type { Edges, StoredEdge } from '../follows/edges.ts'
import { ends } from './walk.ts'

/** Who follows whom. */
export interface Pair {
  readonly follower: string
  readonly followee: string
}

/** A pair as differences name it. */
export const nameOf = ({ follower, followee }: Pair): string => `${follower}>${followee}`

/** The two collections that hold each edge; one alone under `reverse-index`. */
export function sidesOf({ followers, following }: Edges) {
  const second = following.collection !== followers.collection
  return {
    followers: followers.collection,
    following: second ? following.collection : undefined,
  }
}

/**
 * The edges of a range in one collection without the same one in the other. Joined by `_id` alone, which the server
 * does fastest. One command, which seeks once for every edge; on a sharded cluster every seek asks all shards.
 * @param field the field of `from` that names the other end.
 */
export async function* lonelyEdges(
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

/** Edges read at a time where all are. */
const readAtOnce = 5_000

/**
 * The edges that are not the same in both collections, of a stretch of their ids. Two commands in the order of `_id`,
 * in step with each other: a hundredth of what it costs to look each edge up.
 * @param ids a condition on an edge's id.
 * @param onRead told at the end how many documents were read.
 */
export async function* unlikeEdges(
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

/** Cuts all edges, from an id on, into stretches of so many, in order. One covered command each. */
export async function* edgeStretches(
  followers: Collection<StoredEdge>,
  size: number,
  from: ObjectId,
): AsyncGenerator<{ readonly ids: object; readonly upTo: ObjectId }> {
  let after = from
  for await (const upTo of ends(followers as unknown as Collection, size, from)) {
    yield { ids: { $gt: after, $lte: upTo ?? highestId }, upTo: upTo ?? highestId }
    after = upTo ?? after
  }
}
