import { singleBatch } from '../../db/client.ts'
import type { Collections, SizedBucketDoc, StrategyDoc } from '../../db/collections.ts'
import type { Document } from '../../db/mongo.ts'
import { fromObjectId, highestId, toObjectId } from '../../db/object-id.ts'
import type { Tx } from '../../db/transaction.ts'
import { neighbour, type PostId, type UserId } from '../../lib/ids.ts'
import { highestFloors, type TrimBounds, type TrimmedStore } from './floor-parts.ts'

/** Number of buckets that are read in addition to twice those that the kept entries fill. */
const spareBuckets = 8

/**
 * Finds and removes old buckets of SIZED_BUCKETS. It removes whole buckets, so a timeline keeps some entries more than
 * the bounds say.
 */
export class TrimmedBuckets implements TrimmedStore {
  constructor(
    private readonly buckets: Collections['sized_buckets'],
    private readonly size: number,
  ) {}

  /** Reads twice as many entries of a reader as are kept. Of the newest buckets, so the floor is never too high. */
  async findFloors(
    readers: readonly UserId[],
    { entriesMax, firstKept }: TrimBounds,
  ): Promise<ReadonlyMap<UserId, PostId>> {
    const coll = this.buckets.collectionName
    const newest = [
      { $sort: { newest: -1 as const } },
      { $limit: 1 },
      { $project: { _id: 0, reader: 1, newest: 1 } },
    ]
    const beyondNewest = (reader: UserId) => [
      { $match: { reader } },
      { $sort: { newest: -1 as const } },
      { $limit: 2 * Math.ceil(entriesMax / this.size) + spareBuckets },
      { $unwind: '$entries' },
      { $sort: { 'entries.post': -1 as const } },
      { $skip: entriesMax },
      { $limit: 1 },
      {
        $lookup: {
          from: coll,
          localField: 'reader',
          foreignField: 'reader',
          let: { post: '$entries.post' },
          pipeline: [{ $match: { $expr: { $lte: ['$newest', '$$post'] } } }, ...newest],
          as: 'below',
        },
      },
      { $unwind: '$below' },
      { $replaceWith: '$below' },
    ]
    const beyondAge = (reader: UserId, kept: PostId) => [
      { $match: { reader, newest: { $lt: toObjectId(kept) } } },
      ...newest,
    ]
    const [first = [], ...others] = readers.flatMap((reader): Document[][] => [
      ...(entriesMax === Infinity ? [] : [beyondNewest(reader)]),
      ...(firstKept ? [beyondAge(reader, firstKept)] : []),
    ])
    const unions = others.map((pipeline) => ({ $unionWith: { coll, pipeline } }))
    const rows = await this.buckets
      .aggregate<Pick<SizedBucketDoc, 'reader' | 'newest'>>([...first, ...unions], singleBatch)
      .toArray()
    return highestFloors(
      rows.map(({ reader, newest }) => [
        reader as UserId,
        neighbour(fromObjectId<PostId>(newest), 1),
      ]),
    )
  }

  async removeBelow(
    floors: ReadonlyMap<UserId, PostId>,
    _: StrategyDoc,
    { session }: Tx,
  ): Promise<boolean> {
    // An open bucket has the highest id as its newest. Only a dropped timeline has this floor.
    const deletions = [...floors].map(([reader, floor]) => ({
      deleteMany: {
        filter: { reader, newest: { [isAll(floor) ? '$lte' : '$lt']: toObjectId(floor) } },
      },
    }))
    await this.buckets.bulkWrite(deletions, { session })
    return false
  }
}

const isAll = (floor: PostId) => floor === fromObjectId(highestId)
