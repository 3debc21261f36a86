import type { Collections, RepairDoc } from '../db/collections.ts'
import { toObjectId } from '../db/object-id.ts'
import type { Transactions, Tx } from '../db/transaction.ts'
import type { PostId } from '../lib/ids.ts'
import type { Difference } from './differences.ts'

type Repaired = Pick<Collections, 'users' | 'user_stats' | 'posts' | 'repairs'>

/**
 * Applies differences, each at most once (law L3): a counter is never set, so that what traffic adds meanwhile is kept,
 * and every repair raises the number of repairs that its difference was computed under, so that nobody applies the
 * same drift again, whether in this run or in another.
 * @see seed 3: a backfill that applied its updates twice
 */
export class Ledger {
  constructor(
    private readonly collections: Repaired,
    private readonly transactions: Transactions,
    private readonly now: () => number,
  ) {}

  /**
   * Applies some differences and writes down that a run did, in one transaction of at most six commands.
   * @param mendedOf how many edges of a user the run has mended.
   * @returns those that were applied: the others were repaired by somebody else since, or their owner is gone.
   */
  async apply(
    run: string,
    some: readonly Difference[],
    mendedOf: (id: string) => number,
  ): Promise<readonly Difference[]> {
    if (some.length === 0) return []
    return this.transactions.run(async (tx) => {
      const due = await this.due(tx, run, some)
      if (due.length === 0) return []
      const { user_stats, posts, repairs } = this.collections
      const users = due.filter(({ kind }) => kind === 'USER')
      const others = due.filter(({ kind }) => kind === 'POST')
      const options = { session: tx.session, ordered: false }
      if (users.length > 0) await user_stats.bulkWrite(users.map(userUpdate), options)
      if (others.length > 0) await posts.bulkWrite(others.map(postUpdate), options)
      await repairs.insertMany(
        due.map((one) => this.entry(run, one, mendedOf(one.id))),
        { session: tx.session },
      )
      return due
    })
  }

  /** Those that still stand as they were computed. */
  private async due(tx: Tx, run: string, some: readonly Difference[]): Promise<Difference[]> {
    const { users, user_stats, posts, repairs } = this.collections
    const ids = some.map(({ id }) => ({ run, id }))
    const done = new Set(
      (await repairs.find({ _id: { $in: ids } }, { ...tx }).toArray()).map(({ _id }) => _id.id),
    )
    const now = new Map<string, { repairs: number; since?: Date }>()
    const handles = some.filter(({ kind }) => kind === 'USER').map(({ id }) => id)
    if (handles.length > 0) {
      const among = { _id: { $in: handles } }
      const opened = new Map(
        (await users.find(among, { ...tx }).toArray()).map((user) => [user._id, user.createdAt]),
      )
      for (const { _id, repairs = 0 } of await user_stats.find(among, { ...tx }).toArray()) {
        const since = opened.get(_id)
        now.set(_id, { repairs, ...(since ? { since } : {}) })
      }
    }
    const keys = some.flatMap(({ kind, id, author = '' }) =>
      kind === 'POST' ? [{ author, _id: toObjectId(id as PostId) }] : [],
    )
    if (keys.length > 0) {
      const projection = { repairs: 1 } as const
      for (const post of await posts.find({ $or: keys }, { ...tx, projection }).toArray()) {
        now.set(post._id.toHexString(), { repairs: post.repairs ?? 0 })
      }
    }
    return some.filter(({ id, repairs, since }) => {
      const standing = now.get(id)
      const same = standing?.since?.getTime() === since?.getTime()
      return !done.has(id) && same && standing?.repairs === repairs
    })
  }

  private entry(run: string, { kind, id, by, counted }: Difference, mended: number): RepairDoc {
    const size = Math.max(...Object.values(by).map(Math.abs))
    const more = mended > 0 ? { mended } : {}
    return { _id: { run, id }, kind, by, counted, size, ...more, at: new Date(this.now()) }
  }
}

const userUpdate = ({ id, by }: Difference) => ({
  updateOne: { filter: { _id: id }, update: { $inc: { ...by, repairs: 1 } } },
})

function postUpdate({ id, author = '', by }: Difference) {
  const counts = Object.entries(by).map(([kind, count]) => [`counts.${kind}`, count])
  const filter = { author, _id: toObjectId(id as PostId) }
  return {
    updateOne: { filter, update: { $inc: { ...Object.fromEntries(counts), repairs: 1 } } },
  }
}
