import type { Collections, EngagementDoc, OverflowDoc, PostDoc } from '../db/collections.ts'
import type { Filter, ObjectId } from '../db/mongo.ts'
import type { Tx } from '../db/transaction.ts'
import { type EngagementKind, engagementKinds } from '../engagement/kinds.ts'
import { arrayIn } from '../engagement/list-store.ts'

/** The collections of posts and their overflow documents. */
export type ListCollections = Pick<Collections, 'posts' | 'overflow'>

/** One list of a post. */
export interface ListRef {
  readonly post: Pick<PostDoc, '_id' | 'author'>
  readonly kind: EngagementKind
}

/** The entries of a list in one document: the post, or an overflow document. */
export interface ListPart {
  /** Undefined: the post. */
  readonly level: number | undefined
  readonly items: EngagementDoc[]
}

export const placeOf = ({ place, _id }: EngagementDoc): ObjectId => place ?? _id

/**
 * Reads the parts of a list in the order of their levels, the post first. Two commands.
 * @param beyond a filter on the overflow documents. Default: all.
 */
export async function readParts(
  { posts, overflow }: ListCollections,
  { post: { _id, author }, kind }: ListRef,
  tx: Tx,
  beyond: Filter<OverflowDoc> = {},
): Promise<ListPart[]> {
  const own = await posts.findOne({ _id, author }, { ...tx, projection: { [kind]: 1 } })
  const levels = await overflow
    .find({ '_id.post': _id, '_id.kind': kind, ...beyond } as Filter<OverflowDoc>, { ...tx })
    .sort({ '_id.level': 1 })
    .toArray()
  return [
    { level: undefined, items: own?.[kind] ?? [] },
    ...levels.map(({ _id, items }) => ({ level: _id.level, items })),
  ]
}

/** Replaces the entries of a part. One command. */
export async function writePart(
  { posts, overflow }: ListCollections,
  { post: { _id, author }, kind }: ListRef,
  { session }: Tx,
  { level, items }: ListPart,
): Promise<void> {
  if (level === undefined) {
    await posts.updateOne({ _id, author }, { $set: { [kind]: items } }, { session })
    return
  }
  const update = { $set: { items, count: items.length } }
  await overflow.updateOne({ _id: { post: _id, kind, level } }, update, { session })
}

/**
 * Makes competing writes to the lists of these posts fail: every such write changes the post. One
 * command.
 */
export const lockPosts = ({ posts }: ListCollections, { session }: Tx, ids: readonly ObjectId[]) =>
  posts.updateMany({ _id: { $in: [...ids] } }, { $inc: { repairs: 1 } }, { session })

/** An aggregation expression: the places of the entries of a list. */
export const placesIn = (list: unknown) => ({
  $map: { input: list, in: { $ifNull: ['$$this.place', '$$this._id'] } },
})

/**
 * Recomputes the metadata of a post from its stored entries, and removes empty levels. Metadata is
 * the count and first place of each level, the number of levels, `has_overflow` and `last`. The
 * ledger repairs the counts. Four commands.
 */
export async function deriveMetadata(
  { posts, overflow }: ListCollections,
  { _id, author }: Pick<PostDoc, '_id' | 'author'>,
  tx: Tx,
): Promise<void> {
  const { session } = tx
  const own = { '_id.post': _id }
  await overflow.deleteMany({ ...own, items: { $size: 0 } }, { session })
  const first = { $min: placesIn('$items') }
  await overflow.updateMany(own, [{ $set: { count: { $size: '$items' }, first } }], { session })
  const levels = await overflow
    .aggregate<{ _id: EngagementKind; levels: number; high: ObjectId }>(
      [
        { $match: own },
        { $project: { high: { $max: placesIn('$items') } } },
        { $group: { _id: '$_id.kind', levels: { $sum: 1 }, high: { $max: '$high' } } },
      ],
      { ...tx },
    )
    .toArray()
  const set = Object.fromEntries(
    engagementKinds.flatMap((kind) => {
      const beyond = levels.find((one) => one._id === kind)
      const last = { $max: [`$last.${kind}`, { $max: placesIn(arrayIn(kind)) }, beyond?.high] }
      return [
        [`levels.${kind}`, beyond?.levels ?? '$$REMOVE'],
        [`last.${kind}`, { $ifNull: [last, '$$REMOVE'] }],
      ]
    }),
  )
  const flag = levels.length > 0 ? true : '$$REMOVE'
  await posts.updateOne({ _id, author }, [{ $set: { ...set, has_overflow: flag } }], { session })
}
