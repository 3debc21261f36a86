import type { Collection, Document } from '../db/mongo.ts'
import { lowestId } from '../db/object-id.ts'
import type { IntegrityServices } from './invariant.ts'

const [edgesAtOnce, usersAtOnce, postsAtOnce] = [20_000, 500, 1_000]

/** Conditions on the id of an edge. */
export const edgeRanges = ({ edges: { followers } }: IntegrityServices) =>
  idRanges(followers.collection as unknown as Collection, edgesAtOnce, lowestId)

/** Conditions on a user's id. */
export const userRanges = ({ collections: { users } }: IntegrityServices) =>
  idRanges(users as unknown as Collection, usersAtOnce, '')

/** Conditions on the id of a post. */
export const postRanges = ({ collections: { posts } }: IntegrityServices) =>
  idRanges(posts as unknown as Collection, postsAtOnce, lowestId)

/**
 * Cuts the ids of a collection above `from` into ranges of `size` documents, in order. Yields
 * conditions on an id that together match every id above `from` of its type, also ids that the
 * collection does not hold. One covered command for each.
 */
export async function* idRanges<Id>(
  collection: Collection,
  size: number,
  from: Id,
): AsyncGenerator<Document> {
  for (let after = from; ; ) {
    const [last] = await collection
      .find({ _id: { $gt: after } } as object, { projection: { _id: 1 } })
      .sort({ _id: 1 })
      .skip(size - 1)
      .limit(1)
      .toArray()
    if (!last) {
      yield { $gt: after }
      return
    }
    yield { $gt: after, $lte: last._id }
    after = last._id as Id
  }
}
