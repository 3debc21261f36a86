import type { Collections, RepairDoc } from '../db/collections.ts'
import { toObjectId } from '../db/object-id.ts'
import type { Transactions, Tx } from '../db/transaction.ts'
import { DomainError } from '../errors.ts'
import type { PostId } from '../lib/ids.ts'

/** How far the counters of a user or post were off at one instant. */
export interface Difference extends Pick<RepairDoc, 'kind' | 'by' | 'counted'> {
  /** A handle, or a post's id. */
  readonly id: string
  /** Of a post. */
  readonly author?: string
  /** When the account was opened: another account under the same handle is another user. */
  readonly since?: Date
  /** How often it had been repaired at that instant. */
  readonly repairs: number
}

/** @param counters the name, the counted and the stored number of each. @returns undefined when all are equal. */
export function differenceOf(
  subject: Omit<Difference, 'by' | 'counted'>,
  counters: readonly (readonly [name: string, counted: number, stored: number])[],
): Difference | undefined {
  const wrong = counters.filter(([, counted, stored]) => counted !== stored)
  if (wrong.length === 0) return undefined
  return {
    ...subject,
    by: Object.fromEntries(wrong.map(([name, counted, stored]) => [name, stored - counted])),
    counted: Object.fromEntries(wrong.map(([name, counted]) => [name, counted])),
  }
}

/** By how much the counter that is off the most is off. */
export const sizeOf = ({ by }: Pick<Difference, 'by'>): number =>
  Math.max(...Object.values(by).map(Math.abs))

type Repaired = Pick<Collections, 'users' | 'user_stats' | 'posts' | 'repairs'>

/**
 * Applies differences, each at most once (law L3). A counter is never set, so that what traffic adds in between is
 * kept. Every repair raises the number of repairs that its difference was computed under, so that no run applies the
 * same drift again.
 * @see seed 3: a backfill that applied its updates twice
 */
export class Ledger {
  constructor(
    private readonly collections: Repaired,
    private readonly transactions: Transactions,
    private readonly now: () => number,
  ) {}

  /**
   * Applies some differences and records the run that did, in one transaction of at most five commands. Should one of
   * them be outdated, or other writes keep colliding, each is applied in a transaction of its own.
   * @param edgesRepairedOf how many edges of a user the run has repaired.
   * @returns those that were applied. The others were repaired by another run, or their owner is deleted, or other writes
   * kept colliding.
   */
  async apply(
    run: string,
    some: readonly Difference[],
    edgesRepairedOf: (id: string) => number,
  ): Promise<readonly Difference[]> {
    if (some.length === 0) return []
    try {
      await this.transactions.run((tx) => this.applyAll(tx, run, some, edgesRepairedOf))
      return some
    } catch (error) {
      const busy = error instanceof DomainError && error.code === 'UNAVAILABLE'
      if (!busy && !(error instanceof Outdated)) throw error
      if (some.length === 1) return []
    }
    const applied: Difference[] = []
    for (const one of some) applied.push(...(await this.apply(run, [one], edgesRepairedOf)))
    return applied
  }

  /** Writes first, so that collisions show early. @throws {Outdated} when one of them is not as it was computed. */
  private async applyAll(
    tx: Tx,
    run: string,
    some: readonly Difference[],
    edgesRepairedOf: (id: string) => number,
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
      some.map((one) => this.entry(run, one, edgesRepairedOf(one.id))),
      { session: tx.session },
    )
  }

  private entry(run: string, { kind, id, by, counted }: Difference, mended: number): RepairDoc {
    const size = sizeOf({ by })
    const more = mended > 0 ? { mended } : {}
    return { _id: { run, id }, kind, by, counted, size, ...more, at: new Date(this.now()) }
  }
}

/** A difference is not what it was when it was computed. */
class Outdated extends Error {
  override readonly name = 'Outdated'
}

/** Matches what was not repaired since. */
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
