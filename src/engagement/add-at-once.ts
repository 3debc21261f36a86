import type { PostDoc } from '../db/collections.ts'
import { deadlineOf } from '../db/deadline.ts'
import { isDuplicateKey, isRefusedByData } from '../db/errors.ts'
import { findRepeats } from '../db/idempotency.ts'
import type { AnyBulkWriteOperation, Filter } from '../db/mongo.ts'
import { fromObjectId, toObjectId } from '../db/object-id.ts'
import { TryAgain, type Tx } from '../db/transaction.ts'
import { timeOf, type UserId } from '../lib/ids.ts'
import {
  type Admitted,
  type EntryParts,
  type EntryWrite,
  listKey,
  resultsOf,
  storeBesideLists,
} from './commit-entries.ts'
import { kinds } from './kinds.ts'
import { type ListResult, type NewEntry, sizeOf } from './list-plan.ts'
import { arrayIn } from './list-store.ts'

/** A write that adds an entry. */
type Add = EntryWrite & { readonly write: { readonly add: NewEntry } }

/** Writes that cannot be added at once. */
const inDoubt = new WeakSet<EntryWrite>()

/**
 * Whether writes may be tried by {@link addAtOnce}: adds to different lists, none of which is known
 * to overflow.
 * @param admitted the adds that memory has admitted. All of them must be.
 */
export function canAddAtOnce(
  { overflowing, limits }: Pick<EntryParts, 'overflowing' | 'limits'>,
  writes: readonly EntryWrite[],
  admitted: Admitted,
): writes is readonly Add[] {
  const lists = new Set<string>()
  const isFree = (write: EntryWrite) => {
    const {
      post,
      write: { kind, add },
    } = write
    const list = listKey({ post, kind })
    if (!add || !admitted.has(write) || inDoubt.has(write)) return false
    if (lists.has(list) || overflowing.has(list) || limits[kind].threshold < 1) return false
    lists.add(list)
    return true
  }
  const repeats = findRepeats(writes.map(({ idempotencyKey }) => idempotencyKey))
  return writes.every(isFree) && repeats.every((repeated) => repeated === undefined)
}

/**
 * Adds entries to lists in the caller's transaction without reading anything before: the filter of
 * each update decides what `commitEntries` decides by reading. Entry, count, by-user entry, jobs
 * and the result under the idempotency key change together. Cost, whatever the number of adds:
 * three commands, one of them for idempotency keys. One more if a feature reacts, and one reads
 * accounts that this process does not know.
 * @throws {TryAgain} unless all of them are new entries of existing posts whose lists have room in
 *   their post, under new idempotency keys. The next try reads.
 * @see laws L2 and L4
 */
export async function addAtOnce(
  tx: Tx,
  parts: EntryParts,
  writes: readonly Add[],
): Promise<readonly ListResult[]> {
  try {
    const updates = writes.map((write) => pushOf(write, parts.limits))
    const { matchedCount } = await parts.collections.posts.bulkWrite(updates, {
      session: tx.session,
    })
    if (matchedCount < writes.length) throw notAtOnce(writes)
    const made = writes.map((one) => ({ ...one, result: { changed: true, entry: one.write.add } }))
    await storeBesideLists(tx, parts, made)
    parts.idempotency.noteLive(
      tx,
      writes.map(({ write }) => write.add.actor as UserId),
    )
    await parts.idempotency.saveResults(resultsOf(made), tx)
    return made.map(({ result }) => result)
  } catch (error) {
    throw isDuplicateKey(error) || isRefusedByData(error) ? notAtOnce(writes, error) : error
  }
}

function notAtOnce(writes: readonly EntryWrite[], cause?: unknown): TryAgain {
  for (const write of writes) inDoubt.add(write)
  return new TryAgain('not every entry can be added at once', { cause })
}

/** Elements of an array would match in its place. */
const isNoArray = { $not: { $type: 'array' } }

/**
 * Adds an entry to the list in the post, if that is where `ListPlan` would place it, under its own
 * id.
 */
function pushOf(
  { post, write: { kind, add } }: Add,
  limits: EntryParts['limits'],
): AnyBulkWriteOperation<PostDoc> {
  const { threshold, embeddedBytesMax } = limits[kind]
  const deadline = deadlineOf(timeOf(fromObjectId(add._id)).getTime())
  const inTime = { $lt: ['$$NOW', deadline] }
  const fits = { $lte: [{ $bsonSize: { items: arrayIn(kind) } }, embeddedBytesMax - sizeOf(add)] }
  const filter = {
    _id: toObjectId(post.id),
    author: post.author,
    [`levels.${kind}`]: { $eq: null, ...isNoArray },
    [`last.${kind}`]: isNoArray,
    [`${kind}.${threshold - 1}`]: { $exists: false },
    ...(kinds[kind].key === 'actor' && { [`${kind}.actor`]: { $ne: add.actor } }),
    $or: [{ [`last.${kind}`]: null }, { [`last.${kind}`]: { $lt: add._id } }],
    $expr: add.text === undefined ? inTime : { $and: [inTime, fits] },
  } as Filter<PostDoc>
  const update = {
    $push: { [kind]: add },
    $inc: { [`counts.${kind}`]: 1 },
    $set: { [`last.${kind}`]: add._id },
  }
  return { updateOne: { filter, update, hint: { _id: 1 } } }
}
