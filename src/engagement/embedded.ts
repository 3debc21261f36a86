import type { EngagementKind } from '../config.ts'
import { atOnce, bounded } from '../db/client.ts'
import type { Collections, PostDoc } from '../db/collections.ts'
import type { AnyBulkWriteOperation, Filter } from '../db/mongo.ts'
import { toObjectId } from '../db/object-id.ts'
import type { PostRef } from '../lib/ids.ts'
import { kinds, type ListLimits } from './kinds.ts'
import { type ListResult, type NewEntry, sizeOf } from './plan.ts'
import { embedded } from './stored.ts'

/** An entry that may find room in its post. */
export interface EmbeddedAdd {
  readonly post: PostRef
  readonly kind: EngagementKind
  readonly entry: NewEntry
}

/**
 * Adds entries of different posts, each where its list is within its post, has room and does not hold its key: one
 * conditional update each, all in one command, and one command more when not all of them found their conditions met.
 * @returns in order; undefined where it takes more than that.
 */
export async function addEmbedded(
  posts: Collections['posts'],
  limits: Readonly<Record<EngagementKind, ListLimits>>,
  adds: readonly EmbeddedAdd[],
): Promise<(ListResult | undefined)[]> {
  const likely = adds.filter(({ kind }) => limits[kind].threshold > 0)
  if (likely.length === 0) return adds.map(() => undefined)
  const updates = likely.map((add) => updateFor(add, limits[add.kind]))
  const { matchedCount } = await posts.bulkWrite(updates, { ...bounded, ordered: false })
  const added = matchedCount === likely.length ? new Set(likely) : await storedAmong(posts, likely)
  return adds.map((add) => (added.has(add) ? { changed: true, entry: add.entry } : undefined))
}

/** Those of the entries that their posts hold, or held until another process took them out again. */
async function storedAmong(
  posts: Collections['posts'],
  adds: readonly EmbeddedAdd[],
): Promise<Set<EmbeddedAdd>> {
  const found = await posts
    .find(
      {
        $or: adds.map(({ post: { id, author }, kind, entry }) => ({
          _id: toObjectId(id),
          author,
          $or: [{ [`${kind}._id`]: entry._id }, { [`last.${kind}`]: entry._id }],
        })),
      },
      { ...atOnce, projection: { _id: 1 } },
    )
    .toArray()
  const ids = new Set(found.map(({ _id }) => _id.toHexString()))
  return new Set(adds.filter(({ post }) => ids.has(post.id)))
}

function updateFor(
  { post: { author, id }, kind, entry }: EmbeddedAdd,
  { threshold, embeddedBytesMax }: ListLimits,
): AnyBulkWriteOperation<PostDoc> {
  const filter: Filter<PostDoc> = {
    _id: toObjectId(id),
    author,
    [`levels.${kind}`]: { $exists: false },
    [`${kind}.${threshold - 1}`]: { $exists: false },
    [`last.${kind}`]: { $not: { $gte: entry._id } },
    ...(kinds[kind].key === 'actor' ? { [`${kind}.actor`]: { $ne: entry.actor } } : {}),
    ...(entry.text === undefined ? {} : roomFor(kind, embeddedBytesMax - sizeOf(entry))),
  }
  const update = {
    $push: { [kind]: entry },
    $inc: { [`counts.${kind}`]: 1 },
    $set: { [`last.${kind}`]: entry._id },
  }
  return { updateOne: { filter, update } }
}

/** That what the post holds of a list takes so many bytes at most. */
const roomFor = (kind: EngagementKind, bytesMax: number) => ({
  $expr: { $lte: [{ $bsonSize: { items: embedded(kind) } }, bytesMax] },
})
