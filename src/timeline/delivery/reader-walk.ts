import { singleBatch } from '../../db/client.ts'
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
        { _id: inRange({ after: id, upTo }), ...changedFrom(changedSince) },
        { ...singleBatch, ...hintOf(changedSince), projection: { _id: 1 } },
      )
      .sort({ _id: 1 })
      .limit(count)
      .toArray()
    return docs.map(({ _id }) => _id as UserId)
  }

  /**
   * Cuts the readers after an id into up to 16 ranges of the same size. Fewer than two if there are
   * fewer than 2,000 readers. About two commands for each range, and one more if all readers are
   * cut.
   * @param changed only about `total` readers that an import has changed since then. Default: all
   *   readers.
   */
  async cut(
    after: string,
    changed?: { readonly since: ObjectId; readonly total: number },
  ): Promise<KeyRange[]> {
    const total = changed?.total ?? (await estimateReaders({ user_stats: this.stats }))
    if (total < splitMin) return []
    const size = Math.ceil(total / rangesMax)
    return cutRanges(after, { size, rangesMax }, async (id, distance) => {
      const [next] = await this.stats
        .find(
          { _id: { $gt: id }, ...changedFrom(changed?.since) },
          { ...singleBatch, ...hintOf(changed?.since), projection: { _id: 1 } },
        )
        .sort({ _id: 1 })
        .skip(distance - 1)
        .limit(1)
        .toArray()
      return next?._id
    })
  }
}

type Since = ObjectId | undefined

const changedFrom = (since: Since) => (since ? { imported: { $gte: since } } : {})
const hintOf = (since: Since) => (since ? { hint: { _id: 1, imported: 1 } as const } : {})
