import { singleBatch } from '../../db/client.ts'
import type { Collections } from '../../db/collections.ts'
import { cutRanges, inRange, type KeyRange } from '../../jobs/ranges.ts'
import type { UserId } from '../../lib/ids.ts'
import { estimateReaders } from '../registry/estimate-readers.ts'

/** Number of readers from which a walk is split into ranges. */
const splitMin = 2_000
const rangesMax = 16

/** Walks all readers in the order of their ids. */
export class ReaderWalk {
  constructor(private readonly stats: Collections['user_stats']) {}

  /** Loads the next readers after an id, up to another one. One covered command. */
  async loadAfter(id: string, count: number, upTo?: string): Promise<UserId[]> {
    const docs = await this.stats
      .find({ _id: inRange({ after: id, upTo }) }, { ...singleBatch, projection: { _id: 1 } })
      .sort({ _id: 1 })
      .limit(count)
      .toArray()
    return docs.map(({ _id }) => _id as UserId)
  }

  /**
   * Cuts the readers after an id into up to 16 ranges of the same size. Fewer than two if there are fewer than 2,000
   * readers. One command, and about two more for each range.
   */
  async cut(after: string): Promise<KeyRange[]> {
    const total = await estimateReaders({ user_stats: this.stats })
    if (total < splitMin) return []
    const size = Math.ceil(total / rangesMax)
    return cutRanges(after, { size, rangesMax }, async (id, distance) => {
      const [next] = await this.stats
        .find({ _id: { $gt: id } }, { ...singleBatch, projection: { _id: 1 } })
        .sort({ _id: 1 })
        .skip(distance - 1)
        .limit(1)
        .toArray()
      return next?._id
    })
  }
}
