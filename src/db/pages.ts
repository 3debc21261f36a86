import type { Collection, Document, Filter, ObjectId } from 'mongodb'
import type { TimeId } from '../lib/ids.ts'
import type { Range } from '../lib/page.ts'
import { singleBatch } from './client.ts'
import { lowestId, toObjectId } from './object-id.ts'

/** A list per owner, newest first by `_id`, that an index `{[owner]: 1, …, _id: -1, …}` covers. */
export interface OwnedList<Doc extends { _id: ObjectId }, Item> {
  readonly collection: Collection<Doc>
  /** The field with the owner of the list. */
  readonly owner: keyof Doc & string
  /** More conditions on an item. */
  readonly where?: Filter<Doc>
  readonly fields: readonly (keyof Doc & string)[]
  readonly toItem: (doc: Doc) => Item
}

/** The condition on `_id` of a range. It passes over documents whose `_id` is of another type. */
export const idRange = ({
  olderThan,
  newerThan,
}: Omit<Range, 'limit' | 'oldestFirst'>): Document => ({
  _id: {
    ...(olderThan === undefined ? {} : { $lt: toObjectId(olderThan) }),
    ...(newerThan === undefined ? { $gte: lowestId } : { $gt: toObjectId(newerThan) }),
  },
})

/** Reads one range of one owner's list. One command on one shard. */
async function readOne<Doc extends { _id: ObjectId }>(
  list: OwnedList<Doc, unknown>,
  owner: string,
  range: Range,
): Promise<Doc[]> {
  return (await list.collection
    .find({ ...list.where, [list.owner]: owner, ...idRange(range) } as Filter<Doc>, singleBatch)
    .sort({ _id: range.oldestFirst ? 1 : -1 })
    .limit(range.limit)
    .project(projectionOf(list))
    .toArray()) as Doc[]
}

/**
 * Reads the same range of many owners' lists. One command, with one index key per item.
 * @param past the items after which the ranges of all owners continue, or undefined for the start.
 */
async function readMany<Doc extends { _id: ObjectId }>(
  list: OwnedList<Doc, unknown>,
  owners: readonly string[],
  range: Range,
  past?: ReadonlyMap<string, TimeId>,
): Promise<Map<string, Doc[]>> {
  const beyond = { $expr: { [range.oldestFirst ? '$gt' : '$lt']: ['$_id', '$$past'] } }
  const rows = await list.collection.db
    .aggregate<{ owner: string; items: Doc[] }>(
      [
        {
          $documents: owners.map((owner) => {
            const id = past?.get(owner)
            return { owner: { $literal: owner }, ...(id && { past: toObjectId(id) }) }
          }),
        },
        {
          $lookup: {
            from: list.collection.collectionName,
            localField: 'owner',
            foreignField: list.owner,
            ...(past && { let: { past: '$past' } }),
            pipeline: [
              { $match: { ...list.where, ...idRange(range), ...(past && beyond) } },
              { $sort: { _id: range.oldestFirst ? 1 : -1 } },
              { $limit: range.limit },
              { $project: projectionOf(list) },
            ],
            as: 'items',
          },
        },
      ],
      singleBatch,
    )
    .toArray()
  return new Map(rows.map(({ owner, items }) => [owner, items]))
}

const projectionOf = ({ fields }: { fields: readonly string[] }) =>
  Object.fromEntries(
    fields.includes('_id')
      ? fields.map((name) => [name, 1])
      : [['_id', 0], ...fields.map((name) => [name, 1])],
  )

/**
 * Loads the same range of many owners' lists, in the order of the range. Owners without items in it
 * may be absent. One command for any number of owners and any length of their lists.
 * @param past for each of several owners, the item of the range after which the read continues.
 *   Default: from the start.
 */
export async function rangesByOwner<Doc extends { _id: ObjectId }, Item>(
  list: OwnedList<Doc, Item>,
  owners: readonly string[],
  range: Range,
  past?: ReadonlyMap<string, TimeId>,
): Promise<Map<string, Item[]>> {
  const [only, ...more] = owners
  const docs =
    only === undefined || more.length > 0
      ? await readMany(list, owners, range, past)
      : new Map([[only, await readOne(list, only, range)]])
  return new Map([...docs].map(([owner, own]) => [owner, own.map(list.toItem)]))
}

/** The condition that `_id` is one of these ids. */
export const idIn = (ids: readonly TimeId[]) => ({ $in: ids.map(toObjectId) })
