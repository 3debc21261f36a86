import { requestTimeout, singleBatch } from '../db/client.ts'
import type {
  Collections,
  EngagementDoc,
  OverflowDoc,
  PerKind,
  PostDoc,
} from '../db/collections.ts'
import type { AnyBulkWriteOperation, ObjectId } from '../db/mongo.ts'
import { fromObjectId, malformedData, toObjectId } from '../db/object-id.ts'
import type { Tx } from '../db/transaction.ts'
import { groupBy } from '../lib/batch.ts'
import type { EngagementId, PostRef } from '../lib/ids.ts'
import { type EngagementKind, kinds } from './kinds.ts'
import type { Fill, LevelChange, ListState, ListWrite, StoredEntry } from './list-plan.ts'

/** An aggregation expression: an array field. Empty if it is no array. */
export const arrayIn = (field: string) => ({
  $cond: [{ $isArray: `$${field}` }, `$${field}`, []],
})

/** What a batch must know of a post. */
export interface PostState {
  readonly post: PostRef
  /** When it was read, by the database's clock. */
  readonly now: Date
  readonly levels: PerKind
  readonly lists: ReadonlyMap<EngagementKind, ListState>
}

/** A write to a list of a post. */
export interface PostWrite {
  readonly post: PostRef
  readonly write: ListWrite
}

/** Names a post by both parts of its key: one without the other would be somebody else's claim. */
export const postKey = ({ author, id }: PostRef): string => `${author}/${id}`

/** The list of one kind of a post. */
interface ListKey {
  readonly post: ObjectId
  readonly kind: EngagementKind
}

interface StoredPost {
  readonly _id: ObjectId
  readonly author: string
  readonly now: Date
  readonly last?: PostDoc['last']
  readonly levels?: PerKind
  readonly fill: Readonly<Record<EngagementKind, Fill>>
  readonly about: Readonly<Record<EngagementKind, EngagementDoc[]>>
}

/**
 * Reads, in the caller's transaction, what writes to lists are about, by {@link postKey}. Posts
 * that do not exist are left out. One command; one more for each kind with a list that overflows,
 * and one for each of these lists that grows.
 * @param repairs whether a new level is numbered after every stored one, also those that the post
 *   does not count: one command more for each list.
 * @throws {DomainError} NOT_FOUND if the last level of a list that grows has no list.
 */
export async function readStates(
  tx: Tx,
  { posts, overflow }: Pick<Collections, 'posts' | 'overflow'>,
  writes: readonly PostWrite[],
  repairs: boolean,
): Promise<Map<string, PostState>> {
  if (writes.length === 0) return new Map()
  const byKind = groupBy(writes, ({ write }) => write.kind)
  const projection: Record<string, unknown> = { author: 1, last: 1, levels: 1, now: '$$NOW' }
  for (const [kind, ofKind] of byKind) {
    const list = arrayIn(kind)
    projection[`fill.${kind}`] = { count: { $size: list }, bytes: { $bsonSize: { items: list } } }
    projection[`about.${kind}`] = among(list, kind, keysOf(kind, ofKind))
  }
  const refs = new Map(writes.map(({ post }) => [postKey(post), post]))
  const docs = (await posts
    .find(
      {
        _id: { $in: [...new Set(writes.map(({ post }) => post.id))].map(toObjectId) },
        author: { $in: [...new Set(writes.map(({ post }) => post.author))] },
      },
      { ...singleBatch, projection, session: tx.session, hint: { _id: 1 } },
    )
    .toArray()) as unknown as StoredPost[]
  const stored = new Map(
    docs.map((doc) => [`${doc.author}/${doc._id.toHexString()}`, { doc, ...emptyState(doc) }]),
  )
  for (const [kind, ofKind] of byKind) {
    const wanted = groupBy(ofKind, ({ post }) => postKey(post))
    const popular = [...wanted.keys()].flatMap((key) => {
      const doc = stored.get(key)?.doc
      return doc?.levels?.[kind] ? [doc._id] : []
    })
    const beyond = await aboutIn(tx, overflow, { posts: popular, kind, keys: keysOf(kind, ofKind) })
    for (const [key, own] of wanted) {
      const state = stored.get(key)
      if (!state) continue
      const { doc, lists } = state
      const list = { post: doc._id, kind }
      const levels = doc.levels?.[kind] ?? 0
      const grows = levels > 0 && own.some(({ write }) => write.add !== undefined)
      lists.set(kind, {
        last: placeOf(doc.last?.[kind]),
        levels,
        embedded: doc.fill[kind],
        tail: grows ? await tailOf(tx, overflow, list) : undefined,
        ...(repairs ? { nextLevel: await nextLevel(tx, overflow, list) } : {}),
        stored: [
          ...doc.about[kind].map((entry) => ({ entry, level: undefined })),
          ...(beyond.get(doc._id.toHexString()) ?? []),
        ],
      })
    }
  }
  return new Map(
    [...stored].flatMap(([key, { doc: _, ...state }]) => {
      const post = refs.get(key)
      return post ? [[key, { post, ...state }] as const] : []
    }),
  )
}

const emptyState = ({ now, levels }: StoredPost) => ({
  now,
  levels: levels ?? {},
  lists: new Map<EngagementKind, ListState>(),
})

const placeOf = (id: ObjectId | undefined) => id && fromObjectId<EngagementId>(id)

/** A key as it is stored. */
export const storedKey = (kind: EngagementKind, key: string): string | ObjectId =>
  kinds[kind].key === 'actor' ? key : toObjectId(key as EngagementId)

/** Keys that must be looked for: of a kind whose keys are fresh ids, only those to remove. */
const keysOf = (kind: EngagementKind, writes: readonly PostWrite[]): (string | ObjectId)[] =>
  writes.flatMap(({ write: { add, remove } }): (string | ObjectId)[] => {
    if (remove !== undefined) return [storedKey(kind, remove)]
    return kinds[kind].key === 'actor' ? [add.actor] : []
  })

/** Those of a list whose keys are in `keys`, as an aggregation expression. */
export const among = (
  list: unknown,
  kind: EngagementKind,
  keys: readonly (string | ObjectId)[],
) => ({
  $filter: { input: list, cond: { $in: [`$$this.${kinds[kind].key}`, { $literal: keys }] } },
})

/**
 * The entries of several lists with these keys that are in overflow, by post. One command, none
 * without posts or keys.
 */
async function aboutIn(
  tx: Tx,
  overflow: Collections['overflow'],
  {
    posts,
    kind,
    keys,
  }: {
    readonly posts: readonly ObjectId[]
    readonly kind: EngagementKind
    readonly keys: readonly (string | ObjectId)[]
  },
): Promise<Map<string, StoredEntry[]>> {
  const entries = new Map<string, StoredEntry[]>()
  if (posts.length === 0 || keys.length === 0) return entries
  const levels = await overflow
    .find(
      {
        '_id.post': { $in: [...posts] },
        '_id.kind': kind,
        [`items.${kinds[kind].key}`]: { $in: keys },
      },
      {
        ...singleBatch,
        session: tx.session,
        projection: { count: 1, items: among(arrayIn('items'), kind, keys) },
      },
    )
    .toArray()
  for (const { _id, count, items } of levels) {
    const key = _id.post.toHexString()
    const own = items.map((entry) => ({ entry, level: { number: _id.level, count } }))
    entries.set(key, [...(entries.get(key) ?? []), ...own])
  }
  return entries
}

async function tailOf(
  tx: Tx,
  overflow: Collections['overflow'],
  { post, kind }: ListKey,
): Promise<ListState['tail']> {
  const [tail] = await overflow
    .find(
      { '_id.post': post, '_id.kind': kind },
      {
        ...requestTimeout,
        session: tx.session,
        projection: {
          count: 1,
          bytes: { $bsonSize: '$$ROOT' },
          isList: { $isArray: '$items' },
        },
      },
    )
    .sort({ first: -1 })
    .limit(1)
    .toArray()
  if (!tail) return undefined
  const { _id, count, bytes, isList } = tail as OverflowDoc & { bytes: number; isList: boolean }
  if (!isList) throw malformedData()
  return { number: _id.level, count, bytes }
}

/** The number after that of every stored level of a list. */
async function nextLevel(
  tx: Tx,
  overflow: Collections['overflow'],
  { post, kind }: ListKey,
): Promise<number> {
  const range = { $gte: { post, kind, level: 0 }, $lt: { post, kind, level: Infinity } }
  const [last] = await overflow
    .find(
      { _id: range, '_id.post': post },
      { ...requestTimeout, session: tx.session, hint: { _id: 1 } },
    )
    .sort({ _id: -1 })
    .limit(1)
    .project<Pick<OverflowDoc, '_id'>>({ _id: 1 })
    .toArray()
  return last ? last._id.level + 1 : 0
}

type LevelWrite = AnyBulkWriteOperation<OverflowDoc>

/** The commands that make a list's overflow documents what the plan says. */
export const levelWrites = (
  post: ObjectId,
  kind: EngagementKind,
  levels: readonly LevelChange[],
): LevelWrite[] =>
  levels.flatMap(({ number: level, existed, ...change }): LevelWrite[] => {
    const { count, adds, removes } = change
    const _id = { post, kind, level }
    const items = [...adds]
    const [head] = items
    if (!existed && head) {
      const first = head.place ?? head._id
      return [{ insertOne: { document: { _id, first, count, items } } }]
    }
    if (count === 0) return [{ deleteOne: { filter: { _id } } }]
    const update = (how: object): LevelWrite => ({
      updateOne: { filter: { _id }, update: { ...how, $set: { count } } },
    })
    return [
      ...(removes.length > 0 ? [update({ $pull: { items: { _id: { $in: [...removes] } } } })] : []),
      ...(items.length > 0 ? [update({ $push: { items: { $each: items } } })] : []),
    ]
  })
