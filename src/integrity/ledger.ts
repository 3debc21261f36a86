import type { Collections } from '../db/collections.ts'
import { toObjectId } from '../db/object-id.ts'
import type { Transactions, Tx } from '../db/transaction.ts'
import type { PostId } from '../lib/ids.ts'

/** The differences of the counters of a user or post at one instant. */
export interface Difference {
  readonly kind: 'USER' | 'POST'
  /** The user's id, or the post's id. */
  readonly id: string
  /** The author, of a post. */
  readonly author?: string
  /** The number of repairs of this user or post at that instant. */
  readonly repairs: number
  /** What must be added to each counter. */
  readonly delta: Readonly<Record<string, number>>
  /** The counters that differ, as they are. */
  readonly counted: Readonly<Record<string, number>>
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

/** The counters of a difference, with what they should be and what they are. */
export const countersOf = ({ delta, counted }: Difference) =>
  Object.entries(delta).map(([name, count]) => {
    const found = counted[name] ?? 0
    return { name, expected: found + count, found }
  })

type Counting = Pick<Collections, 'user_stats' | 'posts'>

/**
 * Applies differences, each at most once (law L3). Adds to counters and never sets them, so
 * concurrent changes are kept. Every repair raises the number of repairs under which its difference
 * was computed, so no run adds it again. One transaction of at most two commands.
 * @returns false if nothing was applied: one of the differences is outdated, because another run
 * repaired it or its owner is deleted.
 * @throws {DomainError} UNAVAILABLE if other writes keep colliding.
 * @see https://medium.engineering/counting-your-followers-facbfafe45d9 for a back-fill that applied
 *   its updates twice
 */
export async function applyDifferences(
  collections: Counting,
  transactions: Transactions,
  differences: readonly Difference[],
): Promise<boolean> {
  try {
    await transactions.run((tx) => applyAll(collections, tx, differences))
    return true
  } catch (error) {
    if (error instanceof Outdated) return false
    throw error
  }
}

/** @throws {Outdated} if one of the differences is outdated. */
async function applyAll(
  { user_stats, posts }: Counting,
  tx: Tx,
  differences: readonly Difference[],
): Promise<void> {
  const options = { session: tx.session, ordered: false }
  const ofUsers = differences.filter(({ kind }) => kind === 'USER')
  const ofPosts = differences.filter(({ kind }) => kind === 'POST')
  if (ofUsers.length > 0) {
    const { matchedCount } = await user_stats.bulkWrite(ofUsers.map(userUpdate), options)
    if (matchedCount < ofUsers.length) throw new Outdated()
  }
  if (ofPosts.length > 0) {
    const { matchedCount } = await posts.bulkWrite(ofPosts.map(postUpdate), options)
    if (matchedCount < ofPosts.length) throw new Outdated()
  }
}

/**
 * The user or post of a difference is deleted, or has changed its number of repairs since the
 * count.
 */
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
