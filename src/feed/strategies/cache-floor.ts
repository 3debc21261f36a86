import type { EntryDoc, TimelineCacheDoc } from '../../db/collections.ts'
import type { Document, ObjectId } from '../../db/mongo.ts'

/** The update that adds entries complete down to `floor`. The cache is then complete down to the higher floor. */
export function merged(docs: readonly EntryDoc[], floor: ObjectId, depth: number): Document[] {
  const added = docs.map(({ post }) => post)
  const kept = {
    $filter: { input: '$entries', cond: { $not: [{ $in: ['$$this.post', added] }] } },
  }
  const all = { $concatArrays: [kept, { $literal: docs }] }
  const held = { $filter: { input: all, cond: { $gte: ['$$this.post', '$floor'] } } }
  const sorted = { $sortArray: { input: held, sortBy: { post: -1 } } }
  return [
    { $set: { floor: { $max: [raisedFloor(depth), floor] } } },
    { $set: { entries: { $slice: [sorted, depth] } } },
  ]
}

/** The floor of a cache, as an expression of an update. The floor of a full cache is its last entry. */
export function raisedFloor(depth: number): Document {
  const full = { $gte: [{ $size: '$entries' }, depth] }
  return { $cond: [full, { $max: ['$floor', { $last: '$entries.post' }] }, '$floor'] }
}

/** The floor of a cache that was read, as {@link raisedFloor}. */
export function floorOf({ entries, floor }: TimelineCacheDoc, depth: number): ObjectId {
  const last = entries.length < depth ? undefined : entries.at(-1)?.post
  return last && floor.toHexString() < last.toHexString() ? last : floor
}
