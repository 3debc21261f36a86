import type { Collections } from '../db/collections.ts'
import type { Collection, Document, ObjectId } from '../db/mongo.ts'
import { highestId } from '../db/object-id.ts'
import type { Edges } from '../follows/edges.ts'
import { chunks } from '../lib/batch.ts'
import { edgeCollections } from './pairs.ts'

/** The most accounts, edges and posts in one range. */
const [accountsAtOnce, edgesAtOnce, postsAtOnce] = [500, 20_000, 1_000]

/** A range of users in the order of their handles. */
interface UserRange {
  /** A condition on a handle. In a scan of all users it also matches handles without an account. */
  readonly handles: object
  readonly upTo: string
}

/** Cuts users above a handle into ranges of 500 accounts, in order. With `all`, one covered command for each range. */
export async function* userRanges(
  users: Collections['users'],
  which: 'all' | readonly string[],
  from = '',
): AsyncGenerator<UserRange> {
  if (which !== 'all') {
    const left = [...new Set(which)].sort().filter((handle) => handle > from)
    for (const some of chunks(left, accountsAtOnce)) {
      yield { handles: { $in: some }, upTo: some.at(-1) ?? '' }
    }
    return
  }
  let after = from
  for await (const upTo of rangeEnds(users as unknown as Collection, accountsAtOnce, from)) {
    const handles = upTo === undefined ? { $gt: after } : { $gt: after, $lte: upTo }
    yield { handles, upTo: upTo ?? '\uffff' }
    after = upTo ?? after
  }
}

/** A range of documents in the order of `_id`. */
interface Segment {
  /** A condition on their `_id`. */
  readonly ids: Document
  readonly upTo: ObjectId
}

/**
 * Cuts all edges above an id into segments of 20,000, in order. Yields no segment under `reverse-index`. One covered
 * command for each segment.
 */
export async function* edgeSegments(edges: Edges, from: ObjectId): AsyncGenerator<Segment> {
  const { followers, following } = edgeCollections(edges)
  if (!following) return
  let after = from
  for await (const last of rangeEnds(followers as unknown as Collection, edgesAtOnce, from)) {
    const upTo = last ?? highestId
    yield { ids: { $gt: after, $lte: upTo }, upTo }
    after = upTo
  }
}

/**
 * Cuts the matching posts above an id into segments of 1,000, in order. Without an author, the segments cover every id,
 * also of overflow documents without a post. One covered command for each segment, two with an author.
 */
export async function* postSegments(
  posts: Collections['posts'],
  which: { readonly author?: string },
  from: ObjectId,
): AsyncGenerator<Segment & { readonly filter: Document }> {
  let after = from
  for await (const last of rangeEnds(posts as unknown as Collection, postsAtOnce, from, which)) {
    const upTo = last ?? highestId
    const range = { $gt: after, $lte: upTo }
    const filter = { ...which, _id: range }
    const own =
      which.author === undefined ? [] : await posts.find(filter).project({ _id: 1 }).toArray()
    const ids = which.author === undefined ? range : { $in: own.map(({ _id }) => _id) }
    yield { filter, ids, upTo }
    after = upTo
  }
}

/**
 * Yields each `size`-th `_id` of a collection above `from`, in order. Yields undefined at the end, if fewer are left.
 * One covered command for each.
 */
async function* rangeEnds<Id>(
  collection: Collection,
  size: number,
  from: Id,
  which: object = {},
): AsyncGenerator<Id | undefined> {
  for (let after = from; ; ) {
    const [last] = await collection
      .find({ ...which, _id: { $gt: after } } as object, { projection: { _id: 1 } })
      .sort({ _id: 1 })
      .skip(size - 1)
      .limit(1)
      .toArray()
    const upTo = last?._id as Id | undefined
    yield upTo
    if (upTo === undefined) return
    after = upTo
  }
}
