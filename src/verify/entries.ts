import { type EngagementKind, engagementKinds } from '../config.ts'
import type { Document, ObjectId } from '../db/mongo.ts'
import type { Tx } from '../db/transaction.ts'
import { kinds } from '../engagement/kinds.ts'
import { embedded } from '../engagement/stored.ts'
import type { PostFacts, PostLists } from './lists.ts'
import { confirmed, type Difference, type Tally, type Verdict, type VerifyServices } from './run.ts'

/** The most repeats of one list that are told. */
const repeatsMax = 100

/** A list, and a key that it holds more than once. */
interface Repeat {
  readonly post: PostFacts
  readonly kind: EngagementKind
  readonly key: unknown
}

/**
 * Users who are in a list of likes or shares twice, and comments in theirs (law L2). One command for each list of more
 * than one entry; a long one's keys the server sorts out on disk.
 */
export function repeatDifferences(
  services: VerifyServices,
  lists: PostLists,
  tally: Tally,
): AsyncGenerator<Difference> {
  const look = async (some: readonly Repeat[], tx: Tx): Promise<Verdict> => {
    const differences: Difference[] = []
    for (const repeat of some) {
      const found = await timesOf(services, repeat, tx)
      const subject = `${repeat.post._id}.${repeat.kind} of ${repeat.key}`
      if (found > 1) differences.push({ law: 'L2', kind: 'twice', subject, expected: 1, found })
    }
    return { differences }
  }
  return confirmed(services, repeats(services, lists), look, tally)
}

/** The keys of a list's entries in one document, each on its own. */
const keysIn = (list: unknown, kind: EngagementKind) => [
  { $project: { _id: 0, key: { $map: { input: list, in: `$$this.${kinds[kind].key}` } } } },
  { $unwind: '$key' },
]

async function* repeats(
  { collections: { posts, overflow } }: VerifyServices,
  lists: PostLists,
): AsyncGenerator<Repeat> {
  for (const post of lists.posts) {
    for (const kind of lists.severalOf(post)) {
      const levels = { $match: { '_id.post': post._id, '_id.kind': kind } }
      const beyond = [levels, ...keysIn('$items', kind)]
      const found = posts.aggregate<{ _id: unknown }>(
        [
          { $match: { _id: post._id, author: post.author } },
          ...keysIn(embedded(kind), kind),
          { $unionWith: { coll: overflow.collectionName, pipeline: beyond } },
          { $group: { _id: '$key', times: { $sum: 1 } } },
          { $match: { times: { $gt: 1 } } },
          { $limit: repeatsMax },
        ],
        { allowDiskUse: true },
      )
      for await (const { _id: key } of found) yield { post, kind, key }
    }
  }
}

/** How often a list holds a key. Two commands, since no transaction takes a union. */
async function timesOf(
  { collections: { posts, overflow } }: VerifyServices,
  { post, kind, key }: Repeat,
  tx: Tx,
): Promise<number> {
  const counted = [{ $match: { key } }, { $count: 'times' }]
  const own = { $match: { _id: post._id, author: post.author } }
  const holding = { [`items.${kinds[kind].key}`]: key }
  const levels = { $match: { '_id.post': post._id, '_id.kind': kind, ...holding } }
  const [here] = await posts
    .aggregate<{ times: number }>([own, ...keysIn(embedded(kind), kind), ...counted], { ...tx })
    .toArray()
  const [beyond] = await overflow
    .aggregate<{ times: number }>([levels, ...keysIn('$items', kind), ...counted], { ...tx })
    .toArray()
  return (here?.times ?? 0) + (beyond?.times ?? 0)
}

/** An entry that its user's log does not hold. */
interface Unlogged {
  /** The `_id` of the post, or of the overflow document, that holds it: it stays there. */
  readonly _id: unknown
  readonly post: ObjectId
  readonly kind: EngagementKind
  readonly id: ObjectId
  readonly actor: string
}

/**
 * Entries that their users' logs do not hold: a purge of the user would miss them, and they are in no list of what
 * the user likes (law L2). Two commands, which seek once for every entry.
 * @param ids the posts to look at.
 */
export function unloggedDifferences(
  services: VerifyServices,
  ids: Document,
  tally: Tally,
): AsyncGenerator<Difference> {
  const { posts } = services.collections
  const look = async (some: readonly Unlogged[], tx: Tx): Promise<Verdict> => {
    const at = { _id: { $in: some.map(({ _id }) => _id) } }
    const among = { $in: some.map(({ id }) => id) }
    const there = new Set<string>()
    for (const { _id } of await posts
      .find({ _id: { $in: some.map(({ post }) => post) } }, { ...tx, projection: { _id: 1 } })
      .toArray()) {
      there.add(_id.toHexString())
    }
    const still = unlogged(services, { posts: at, overflow: at }, { ids: among, tx })
    const differences: Difference[] = []
    for await (const { post, kind, id, actor } of still) {
      // The log of a deleted post goes before what its overflow holds.
      if (!there.has(post.toHexString())) continue
      const subject = `${post}.${kind} ${id} of ${actor}`
      differences.push({ law: 'L2', kind: 'log', subject, expected: 'in the log', found: 'none' })
    }
    return { differences }
  }
  const all = unlogged(services, { posts: { _id: ids }, overflow: { '_id.post': ids } })
  return confirmed(services, all, look, tally)
}

/** @param only the ids of entries to look at; without it, any. */
async function* unlogged(
  { collections }: VerifyServices,
  where: { readonly posts: Document; readonly overflow: Document },
  only?: { readonly ids: Document; readonly tx: Tx },
): AsyncGenerator<Unlogged> {
  const { posts, overflow, engaged } = collections
  const missing = [
    { $unwind: '$entry' },
    { $replaceRoot: { newRoot: { $mergeObjects: ['$entry', { _id: '$_id', post: '$post' }] } } },
    ...(only ? [{ $match: { id: only.ids } }] : []),
    // Joined by `_id` alone, which the server does fastest.
    { $lookup: { from: engaged.collectionName, localField: 'id', foreignField: '_id', as: 'log' } },
    { $set: { log: { $first: '$log' } } },
    { $match: { $expr: { $or: ['actor', 'kind', 'post'].map(differs) } } },
  ]
  const tell = (list: unknown, kind: unknown) => ({
    $map: { input: list, in: { id: '$$this._id', actor: '$$this.actor', kind } },
  })
  const all = engagementKinds.map((kind) => tell(embedded(kind), { $literal: kind }))
  yield* posts.aggregate<Unlogged>(
    [
      { $match: where.posts },
      { $project: { post: '$_id', entry: { $concatArrays: all } } },
      ...missing,
    ],
    { ...only?.tx },
  )
  yield* overflow.aggregate<Unlogged>(
    [
      { $match: where.overflow },
      { $project: { post: '$_id.post', entry: tell('$items', '$_id.kind') } },
      ...missing,
    ],
    { ...only?.tx },
  )
}

/** Whether the log says otherwise of a field of the entry, or nothing. */
const differs = (field: string) => ({
  $ne: [`$${field}`, `$log.${field === 'actor' ? 'user' : field}`],
})
