import type { Collections } from '../db/collections.ts'
import type { Collection, Document, ObjectId } from '../db/mongo.ts'
import { highestId } from '../db/object-id.ts'
import type { Edges } from '../follows/edges.ts'
import { chunks } from '../lib/batch.ts'
import { edgeCollections } from './pairs.ts'

/** Accounts, edges and posts in one range. */
const [accountsAtOnce, edgesAtOnce, postsAtOnce] = [500, 20_000, 1_000]

/** Some users in the order of their handles. */
interface UserRange {
  /** A condition on a handle. Of all users: matches also handles without an account. */
  readonly handles: object
  readonly upTo: string
}

/** Cuts users above a handle into ranges of 500 accounts, in order. One covered command each where all are asked for. */
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
  for await (const upTo of ends(users as unknown as Collection, accountsAtOnce, from)) {
    const handles = upTo === undefined ? { $gt: after } : { $gt: after, $lte: upTo }
    yield { handles, upTo: upTo ?? '\uffff' }
    after = upTo ?? after
  }
}

/** Some documents in the order of `_id`. */
interface Stretch {
  /** A condition on their `_id`. */
  readonly ids: Document
  readonly upTo: ObjectId
}

/** Cuts all edges above an id into stretches of 20,000, in order. One covered command each. None under `reverse-index`. */
export async function* edgeStretches(edges: Edges, from: ObjectId): AsyncGenerator<Stretch> {
  const { followers, following } = edgeCollections(edges)
  if (!following) return
  let after = from
  for await (const last of ends(followers as unknown as Collection, edgesAtOnce, from)) {
    const upTo = last ?? highestId
    yield { ids: { $gt: after, $lte: upTo }, upTo }
    after = upTo
  }
}

/**
 * Cuts the posts above an id that match into stretches of 1,000, in order. One covered command each, two for
 * one author's posts. Without an author the stretches cover every id, so that overflow documents without a post are in
 * one of them.
 */
export async function* postStretches(
  posts: Collections['posts'],
  which: { readonly author?: string },
  from: ObjectId,
): AsyncGenerator<Stretch & { readonly filter: Document }> {
  let after = from
  for await (const last of ends(posts as unknown as Collection, postsAtOnce, from, which)) {
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
 * Each `size`-th `_id` of a collection, in order, above `from`; undefined at the end, where fewer are left. One covered
 * command each.
 */
async function* ends<Id>(
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
