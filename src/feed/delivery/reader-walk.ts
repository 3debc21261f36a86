import { requestTimeout, singleBatch } from '../../db/client.ts'
import type { Collections } from '../../db/collections.ts'
import type { ObjectId } from '../../db/mongo.ts'
import { cutRanges, inRange, type KeyRange } from '../../jobs/ranges.ts'
import type { UserId } from '../../lib/ids.ts'
import { estimateReaders } from '../registry/estimate-readers.ts'

/** Number of readers from which a walk is split into ranges. */
const splitMin = 2_000
const rangesMax = 16

/** Walks all readers in the order of their ids. */
export class ReaderWalk {
  constructor(private readonly stats: Collections['user_stats']) {}

  /**
   * Loads the next readers after an id, up to another one. One covered command.
   * @param changedSince only those that an import has changed since then. Default: all.
   */
  async loadAfter(
    id: string,
    count: number,
    {
      upTo,
      changedSince,
    }: { readonly upTo?: string | undefined; readonly changedSince?: Since } = {},
  ): Promise<UserId[]> {
    const docs = await this.stats
      .find(
        { _id: inRange({ after: id, upTo }), ...changed(changedSince) },
        { ...singleBatch, ...hintOf(changedSince), projection: { _id: 1 } },
      )
      .sort({ _id: 1 })
      .limit(count)
      .toArray()
    return docs.map(({ _id }) => _id as UserId)
  }

  /**
   * Cuts the readers after an id into up to 16 ranges of the same size. Fewer than two if there are fewer than 2,000
   * readers. One command, and about two more for each range. The first one examines a key for each changed reader.
   * @param changedSince only those that an import has changed since then. Default: all.
   */
  async cut(after: string, changedSince?: Since): Promise<KeyRange[]> {
    const total = changedSince
      ? await this.countChanged(changedSince)
      : await estimateReaders({ user_stats: this.stats })
    if (total < splitMin) return []
    const size = Math.ceil(total / rangesMax)
    return cutRanges(after, { size, rangesMax }, async (id, distance) => {
      const [next] = await this.stats
        .find(
          { _id: { $gt: id }, ...changed(changedSince) },
          { ...singleBatch, ...hintOf(changedSince), projection: { _id: 1 } },
        )
        .sort({ _id: 1 })
        .skip(distance - 1)
        .limit(1)
        .toArray()
      return next?._id
    })
  }

  /** The readers that an import has changed since then. One covered command, which examines a key for each. */
  private async countChanged(since: ObjectId): Promise<number> {
    return this.stats.countDocuments(changed(since), { ...requestTimeout, ...hintOf(since) })
  }
}

type Since = ObjectId | undefined

const changed = (since: Since) => (since ? { imported: { $gte: since } } : {})
const hintOf = (since: Since) => (since ? { hint: { _id: 1, imported: 1 } as const } : {})
