import { singleBatch } from '../../db/client.ts'
import type { Collections, StrategyDoc, TimedBucketDoc } from '../../db/collections.ts'
import type { Document } from '../../db/mongo.ts'
import type { Tx } from '../../db/transaction.ts'
import { type PostId, type TimeId, timeIdAt, timeOf, type UserId } from '../../lib/ids.ts'
import { highestFloors, type TrimBounds, type TrimmedStore } from './floor-parts.ts'
import { optionOf } from './setting.ts'

/** The key of a bucket of TIME_BUCKETS. */
export type Key = TimedBucketDoc['_id']

/** The number of the period in which an id was created. */
export const periodAt = (id: TimeId, periodMs: number): number =>
  Math.floor(timeOf(id).getTime() / periodMs)

/** The keys of all buckets of a reader. */
export const keysOf = (reader: string) => ({
  $gte: { reader, period: 0 },
  $lte: { reader, period: Infinity },
})

/** Finds and removes old buckets. It keeps whole periods, so a timeline keeps some entries more than the bounds say. */
export class TrimmedPeriods implements TrimmedStore {
  constructor(private readonly buckets: Collections['timed_buckets']) {}

  /** Reads the keys and the numbers of entries of all buckets of a reader. */
  async findFloors(
    readers: readonly UserId[],
    { entriesMax, firstKept, registration }: TrimBounds,
  ): Promise<ReadonlyMap<UserId, PostId>> {
    const periodMs = optionOf(registration, 'periodMs')
    const newestFirst = (_id: object) => [{ $match: { _id } }, { $sort: { _id: -1 as const } }]
    const beyondNewest = (reader: UserId) => [
      { $match: { _id: keysOf(reader) } },
      { $project: { entries: { $size: '$entries' } } },
      {
        $setWindowFields: {
          sortBy: { _id: -1 as const },
          output: { newer: { $sum: '$entries', window: { documents: ['unbounded', -1] } } },
        },
      },
      { $match: { newer: { $gte: entriesMax } } },
      { $limit: 1 },
      { $project: { _id: 1 } },
    ]
    const beyondAge = (reader: UserId, kept: PostId) => [
      ...newestFirst({ ...keysOf(reader), $lt: { reader, period: periodAt(kept, periodMs) } }),
      { $limit: 1 },
      { $project: { _id: 1 } },
    ]
    const [first = [], ...others] = readers.flatMap((reader): Document[][] => [
      ...(entriesMax === Infinity ? [] : [beyondNewest(reader)]),
      ...(firstKept ? [beyondAge(reader, firstKept)] : []),
    ])
    const coll = this.buckets.collectionName
    const unions = others.map((pipeline) => ({ $unionWith: { coll, pipeline } }))
    const rows = await this.buckets
      .aggregate<{ _id: Key }>([...first, ...unions], singleBatch)
      .toArray()
    return highestFloors(
      rows.map(({ _id: { reader, period } }) => [
        reader as UserId,
        timeIdAt<PostId>((period + 1) * periodMs, '0'.repeat(12)),
      ]),
    )
  }

  async removeBelow(
    floors: ReadonlyMap<UserId, PostId>,
    registration: StrategyDoc,
    { session }: Tx,
  ): Promise<boolean> {
    const periodMs = optionOf(registration, 'periodMs')
    const deletions = [...floors].map(([reader, floor]) => {
      const older = { ...keysOf(reader), $lt: { reader, period: periodAt(floor, periodMs) } }
      return { deleteMany: { filter: { _id: older } } }
    })
    await this.buckets.bulkWrite(deletions, { session })
    return false
  }
}
