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
import type { EngagementId, PostRef } from '../lib/ids.ts'
import { type EngagementKind, kinds } from './kinds.ts'
import type { Fill, LevelChange, ListState, ListWrite, StoredEntry } from './list-plan.ts'

/** An aggregation expression: an array field. Empty if it is no array. */
export const arrayIn = (field: string) => ({
  $cond: [{ $isArray: `$${field}` }, `$${field}`, []],
})

/** What a batch must know of a post. */
export interface PostState {
  /** When it was read, by the database's clock. */
  readonly now: Date
  readonly levels: PerKind
  readonly lists: ReadonlyMap<EngagementKind, ListState>
}

/** A post, and the writes to its lists that a batch decides. */
interface StateQuery {
  readonly post: PostRef
  readonly writes: ReadonlyMap<EngagementKind, readonly ListWrite[]>
  /**
   * Whether a new level is numbered after every stored one, also those that the post does not count: one command more
   * for each kind.
   */
  readonly passesLevels: boolean
}

/** The list of one kind of a post. */
interface ListKey {
  readonly post: ObjectId
  readonly kind: EngagementKind
}

interface StoredPost {
  readonly now: Date
  readonly last?: PostDoc['last']
  readonly levels?: PerKind
  readonly fill: Readonly<Record<EngagementKind, Fill>>
  readonly about: Readonly<Record<EngagementKind, EngagementDoc[]>>
}

/**
 * Reads, in the caller's transaction, what the writes of each kind are about.
 * One command, and for each kind that overflows at most two more. Undefined without such a post.
 * @throws {DomainError} NOT_FOUND if the last level of a list that grows has no list.
 */
export async function readState(
  tx: Tx,
  collections: Pick<Collections, 'posts' | 'overflow'>,
  { post: { id, author }, writes, passesLevels }: StateQuery,
): Promise<PostState | undefined> {
  const wanted = new Map([...writes].map(([kind, some]) => [kind, keysOf(kind, some)]))
  const projection: Record<string, unknown> = { last: 1, levels: 1, now: '$$NOW' }
  for (const [kind, keys] of wanted) {
    const list = arrayIn(kind)
    projection[`fill.${kind}`] = { count: { $size: list }, bytes: { $bsonSize: { items: list } } }
    projection[`about.${kind}`] = among(list, kind, keys)
  }
  const post = toObjectId(id)
  const stored = (await collections.posts.findOne(
    { _id: post, author },
    { ...requestTimeout, projection, session: tx.session },
  )) as StoredPost | null
  if (!stored) return undefined
  const levels = stored.levels ?? {}
  const lists = new Map<EngagementKind, ListState>()
  for (const [kind, some] of writes) {
    const overflows = (levels[kind] ?? 0) > 0
    const keys = wanted.get(kind) ?? []
    const list = { post, kind }
    const beyond = overflows ? await aboutIn(tx, collections.overflow, list, keys) : []
    const grows = overflows && some.some(({ add }) => add !== undefined)
    lists.set(kind, {
      last: placeOf(stored.last?.[kind]),
      levels: levels[kind] ?? 0,
      embedded: stored.fill[kind],
      tail: grows ? await tailOf(tx, collections.overflow, list) : undefined,
      ...(passesLevels ? { nextLevel: await nextLevel(tx, collections.overflow, list) } : {}),
      stored: [...stored.about[kind].map((entry) => ({ entry, level: undefined })), ...beyond],
    })
  }
  return { now: stored.now, levels, lists }
}

const placeOf = (id: ObjectId | undefined) => id && fromObjectId<EngagementId>(id)

/** A key as it is stored. */
export const storedKey = (kind: EngagementKind, key: string): string | ObjectId =>
  kinds[kind].key === 'actor' ? key : toObjectId(key as EngagementId)

/** Keys that must be looked for: of a kind whose keys are fresh ids, only those to remove. */
const keysOf = (kind: EngagementKind, writes: readonly ListWrite[]): (string | ObjectId)[] =>
  writes.flatMap(({ add, remove }): (string | ObjectId)[] => {
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

async function aboutIn(
  tx: Tx,
  overflow: Collections['overflow'],
  { post, kind }: ListKey,
  keys: readonly (string | ObjectId)[],
): Promise<StoredEntry[]> {
  if (keys.length === 0) return []
  const found = await overflow
    .find(
      { '_id.post': post, '_id.kind': kind, [`items.${kinds[kind].key}`]: { $in: keys } },
      {
        ...singleBatch,
        session: tx.session,
        projection: { count: 1, items: among(arrayIn('items'), kind, keys) },
      },
    )
    .toArray()
  return found.flatMap(({ _id, count, items }) =>
    items.map((entry) => ({ entry, level: { number: _id.level, count } })),
  )
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
