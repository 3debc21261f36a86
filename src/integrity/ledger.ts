import type { Collections, RepairDoc } from '../db/collections.ts'
import { toObjectId } from '../db/object-id.ts'
import type { Transactions, Tx } from '../db/transaction.ts'
import { DomainError } from '../errors.ts'
import type { PostId } from '../lib/ids.ts'

/** The differences of the counters of a user or post at one instant. */
export interface Difference extends Pick<RepairDoc, 'kind' | 'counted'> {
  /** The user's handle, or the post's id. */
  readonly id: string
  /** The author, of a post. */
  readonly author?: string
  /** When the account was opened: another account under the same handle is another user. */
  readonly since?: Date
  /** The number of repairs of this user or post at that instant. */
  readonly repairs: number
  /** What must be added to each counter. */
  readonly delta: Readonly<Record<string, number>>
}

/**
 * Compares counters with what they count.
 * @param counters the name, the counter's value and the stored number of each.
 * @returns undefined if all are equal.
 */
export function differenceOf(
  subject: Omit<Difference, 'delta' | 'counted'>,
  counters: readonly (readonly [name: string, counted: number, stored: number])[],
): Difference | undefined {
  const wrong = counters.filter(([, counted, stored]) => counted !== stored)
  if (wrong.length === 0) return undefined
  return {
    ...subject,
    delta: Object.fromEntries(wrong.map(([name, counted, stored]) => [name, stored - counted])),
    counted: Object.fromEntries(wrong.map(([name, counted]) => [name, counted])),
  }
}

/** The largest absolute number among the deltas of a user or post. */
export const largestOf = (delta: Difference['delta']): number =>
  Math.max(...Object.values(delta).map(Math.abs))

type Repaired = Pick<Collections, 'users' | 'user_stats' | 'posts' | 'repairs'>

/**
 * Applies differences, each at most once (law L3). Adds to counters and never sets them, so concurrent changes are
 * kept. Every repair raises the number of repairs under which its difference was computed. No run applies the same
 * drift again.
 * @see https://medium.engineering/counting-your-followers-facbfafe45d9 for a back-fill that applied its updates twice
 */
export class Ledger {
  constructor(
    private readonly collections: Repaired,
    private readonly transactions: Transactions,
    private readonly now: () => number,
  ) {}

  /**
   * Applies differences and records the run, in one transaction of at most five commands. If a difference is outdated,
   * or other writes keep colliding, applies each in its own transaction.
   * @param edgesRepairedOf returns the number of edges of a user that the run has repaired.
   * @returns the applied differences. Another run repaired the rest, or their owner is deleted, or other writes kept
   * colliding.
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

  /**
   * Writes before it reads, so that collisions show early. @throws {Outdated} if one of the differences is outdated.
   */
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
      some.map((one) => this.repairDoc(run, one, edgesRepairedOf(one.id))),
      { session: tx.session },
    )
  }

  private repairDoc(
    run: string,
    { kind, id, delta, counted }: Difference,
    repairedEdges: number,
  ): RepairDoc {
    const size = largestOf(delta)
    const more = repairedEdges > 0 ? { repairedEdges } : {}
    const at = new Date(this.now())
    return { _id: { run, id }, kind, delta, counted, size, ...more, at }
  }
}

/** The user or post of a difference has changed its account or its number of repairs since the count. */
class Outdated extends Error {
  override readonly name = 'Outdated'
}

/** Matches a user or post that has not been repaired since. */
const unrepaired = (repairs: number) => (repairs === 0 ? { $not: { $gt: 0 } } : repairs)

const userUpdate = ({ id, delta, repairs }: Difference) => ({
  updateOne: {
    filter: { _id: id, repairs: unrepaired(repairs) },
    update: { $inc: { ...delta, repairs: 1 } },
  },
})

function postUpdate({ id, author = '', delta, repairs }: Difference) {
  const counts = Object.entries(delta).map(([kind, count]) => [`counts.${kind}`, count])
  const filter = { author, _id: toObjectId(id as PostId), repairs: unrepaired(repairs) }
  return {
    updateOne: { filter, update: { $inc: { ...Object.fromEntries(counts), repairs: 1 } } },
  }
}
