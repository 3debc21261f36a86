import { singleBatch } from '../../db/client.ts'
import type { Collections, SizedBucketDoc } from '../../db/collections.ts'
import type { ObjectId } from '../../db/mongo.ts'
import { fromObjectId, toObjectId } from '../../db/object-id.ts'
import type { PostId, UserId } from '../../lib/ids.ts'
import type { Range } from '../../lib/page.ts'
import { fromEntryDoc, isInRange, sortEntries } from '../entries.ts'
import { cutAtFloor } from './floor.ts'
import type { Candidates, Entry, StrategyQuery } from './strategy.ts'

/** Number of buckets that a page reads in addition to the ones that it fills. */
const spareBuckets = 3

/**
 * Reads the entries of SIZED_BUCKETS. It merges buckets that overlap, and shows a repeated entry
 * once.
 */
export class BucketReader {
  /** @param size the number of entries in a full bucket. */
  constructor(
    private readonly buckets: Collections['sized_buckets'],
    private readonly size: number,
  ) {}

  /**
   * One command on one shard if buckets do not overlap. Otherwise one more each time their number
   * doubles.
   */
  async proposeCandidates({ reader, range, registration }: StrategyQuery): Promise<Candidates> {
    if (!registration) return { entries: [], complete: false }
    const { oldestFirst, limit } = range
    const edge = oldestFirst ? 'oldest' : 'newest'
    const read: Entry[] = []
    let from: ObjectId | undefined
    for (let count = Math.ceil(limit / this.size) + spareBuckets; ; count *= 2) {
      const docs = await this.loadBuckets(reader, range, { from, count })
      const entries = docs.flatMap((doc) => doc.entries.map(fromEntryDoc))
      read.push(...entries.filter(({ id }) => isInRange(id, range)))
      const last = docs.at(-1)
      const ordered = sortEntries(read, range)
      if (!last || docs.length < count) return cutAtFloor(ordered, range, registration)
      // Beyond the edge of the last bucket, an unread bucket may hold entries that come first.
      const safe = fromObjectId<PostId>(last[edge])
      const end = ordered.at(-1)
      const isSafe = end && (oldestFirst ? end.id <= safe : end.id >= safe)
      if (ordered.length >= limit && isSafe) return cutAtFloor(ordered, range, registration)
      from = last[edge]
    }
  }

  /** Loads the next buckets of a range. */
  private async loadBuckets(
    reader: UserId,
    { olderThan, newerThan, oldestFirst }: Range,
    { from, count }: { from: ObjectId | undefined; count: number },
  ): Promise<SizedBucketDoc[]> {
    const newest = {
      ...(newerThan ? { $gt: toObjectId(newerThan) } : {}),
      ...(from && !oldestFirst ? { $lte: from } : {}),
    }
    const oldest = {
      ...(olderThan ? { $lt: toObjectId(olderThan) } : {}),
      ...(from && oldestFirst ? { $gte: from } : {}),
    }
    const reaching = {
      reader,
      ...(Object.keys(newest).length > 0 ? { newest } : {}),
      ...(Object.keys(oldest).length > 0 ? { oldest } : {}),
    }
    const pipeline = [
      { $match: reaching },
      { $sort: oldestFirst ? { oldest: 1 } : { newest: -1 } },
      { $limit: count },
    ]
    const hint = oldestFirst
      ? { reader: 1, oldest: 1, newest: 1 }
      : { reader: 1, newest: -1, oldest: 1 }
    return this.buckets.aggregate<SizedBucketDoc>(pipeline, { ...singleBatch, hint }).toArray()
  }
}
