import type { Collections, RepairDoc } from '../db/collections.ts'
import { toObjectId } from '../db/object-id.ts'
import type { Transactions, Tx } from '../db/transaction.ts'
import { DomainError } from '../errors.ts'
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
   * Applies some differences and writes down that a run did, in one transaction of at most five commands; where one of
   * them does not stand any more, or others write of the same people all the time, in one for each.
   * @param mendedOf how many edges of a user the run has mended.
   * @returns those that were applied: the others were repaired by somebody else since, or their owner is gone, or too
   * many wrote there.
   */
  async apply(
    run: string,
    some: readonly Difference[],
    mendedOf: (id: string) => number,
  ): Promise<readonly Difference[]> {
    if (some.length === 0) return []
    try {
      await this.transactions.run((tx) => this.applyAll(tx, run, some, mendedOf))
      return some
    } catch (error) {
      const busy = error instanceof DomainError && error.code === 'UNAVAILABLE'
      if (!busy && !(error instanceof Outdated)) throw error
      if (some.length === 1) return []
    }
    const applied: Difference[] = []
    for (const one of some) applied.push(...(await this.apply(run, [one], mendedOf)))
    return applied
  }

  /** Writes first: who collides is told at once. @throws {Outdated} when one of them does not stand as it was computed. */
  private async applyAll(
    tx: Tx,
    run: string,
    some: readonly Difference[],
    mendedOf: (id: string) => number,
  ): Promise<void> {
    const { users, user_stats, posts, repairs } = this.collections
    const options = { session: tx.session, ordered: false }
    const ofUsers = some.filter(({ kind }) => kind === 'USER')
    const ofPosts = some.filter(({ kind }) => kind === 'POST')
    if (ofUsers.length > 0) {
      const { matchedCount } = await user_stats.bulkWrite(ofUsers.map(userUpdate), options)
      if (matchedCount < ofUsers.length) throw new Outdated()
      const among = { _id: { $in: ofUsers.map(({ id }) => id) } }
      const accounts = await users.find(among, { ...tx }).toArray()
      const opened = new Map(accounts.map(({ _id, createdAt }) => [_id, createdAt.getTime()]))
      const isSame = ({ id, since }: Difference) => opened.get(id) === since?.getTime()
      if (!ofUsers.every(isSame)) throw new Outdated()
    }
    if (ofPosts.length > 0) {
      const { matchedCount } = await posts.bulkWrite(ofPosts.map(postUpdate), options)
      if (matchedCount < ofPosts.length) throw new Outdated()
    }
    const ids = { _id: { $in: some.map(({ id }) => ({ run, id })) } }
    if (await repairs.findOne(ids, { ...tx })) throw new Outdated()
    await repairs.insertMany(
      some.map((one) => this.entry(run, one, mendedOf(one.id))),
      { session: tx.session },
    )
  }

  private entry(run: string, { kind, id, by, counted }: Difference, mended: number): RepairDoc {
    const size = Math.max(...Object.values(by).map(Math.abs))
    const more = mended > 0 ? { mended } : {}
    return { _id: { run, id }, kind, by, counted, size, ...more, at: new Date(this.now()) }
  }
}

/** A difference is not what it was when it was computed. */
class Outdated extends Error {
  override readonly name = 'Outdated'
}

/** Matches nobody who was repaired since. */
const unrepaired = (repairs: number) => (repairs === 0 ? { $not: { $gt: 0 } } : repairs)

const userUpdate = ({ id, by, repairs }: Difference) => ({
  updateOne: {
    filter: { _id: id, repairs: unrepaired(repairs) },
    update: { $inc: { ...by, repairs: 1 } },
  },
})

function postUpdate({ id, author = '', by, repairs }: Difference) {
  const counts = Object.entries(by).map(([kind, count]) => [`counts.${kind}`, count])
  const filter = { author, _id: toObjectId(id as PostId), repairs: unrepaired(repairs) }
  return {
    updateOne: { filter, update: { $inc: { ...Object.fromEntries(counts), repairs: 1 } } },
  }
}
