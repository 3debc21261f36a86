import type { Collections } from '../db/collections.ts'
import type { Tx } from '../db/transaction.ts'
import type { Pair } from '../follows/pair-lists.ts'
import type { UserId } from '../lib/ids.ts'
import type { StatsChange, UserStats } from '../users/stats.ts'

/** The accounts of the handles that a batch names. */
export interface Accounts {
  /** Handles that have an account, or get one from this batch. A deleted account is not live. */
  readonly live: ReadonlySet<UserId>
  /** Those of `live` that had no account before. */
  readonly opened: ReadonlySet<UserId>
}

/** What {@link openAccounts} works with. */
interface AccountParts {
  readonly collections: Pick<Collections, 'users'>
  readonly stats: UserStats
}

/** Every handle of some pairs, once. */
export const handlesOf = (pairs: readonly Pair[]): Set<UserId> =>
  new Set(pairs.flatMap(({ follower, followee }) => [follower, followee]))

/** Whether both users of a pair are in a set. */
export const bothIn = ({ follower, followee }: Pair, users: ReadonlySet<UserId>): boolean =>
  users.has(follower) && users.has(followee)

/** The pairs of a batch, and handles that are known to have accounts. */
interface BatchPairs {
  readonly pairs: readonly Pair[]
  /** Default: none. */
  readonly known?: ReadonlySet<UserId>
}

/**
 * Returns the accounts as {@link openAccounts} would, and writes nothing. One command, none if all accounts are known.
 */
export async function findAccounts(
  { users }: Pick<Collections, 'users'>,
  { session }: Tx,
  { pairs, known: before = new Set() }: BatchPairs,
): Promise<Accounts> {
  const handles = [...handlesOf(pairs)].filter((handle) => !before.has(handle))
  const [live, opened] = [new Set([...before, ...handles]), new Set(handles)]
  if (handles.length === 0) return { live, opened }
  const known = users.find(
    { _id: { $in: handles } },
    // All in one answer.
    { session, projection: { _id: 1, deletedAt: 1 }, batchSize: handles.length + 1 },
  )
  for await (const { _id, deletedAt } of known) {
    opened.delete(_id as UserId)
    if (deletedAt) live.delete(_id as UserId)
  }
  // A pair with a deleted user is skipped, and opens no account for the other one.
  const needed = handlesOf(pairs.filter((pair) => bothIn(pair, live)))
  for (const handle of [...opened].filter((one) => !needed.has(one))) {
    opened.delete(handle)
    live.delete(handle)
  }
  return { live, opened }
}

/**
 * Opens an account for each free handle of pairs without a deleted user, in the caller's transaction. {@link countAll}
 * must follow, which creates the counters. The handle of a deleted account is not free until its purge ends. One
 * command, or two if a handle is free. None if all accounts are known.
 * @param createdAt the date of the new accounts.
 */
export async function openAccounts(
  { collections }: Pick<AccountParts, 'collections'>,
  tx: Tx,
  batch: BatchPairs,
  createdAt: Date,
): Promise<Accounts> {
  const { session } = tx
  const accounts = await findAccounts(collections, tx, batch)
  const ids = [...accounts.opened]
  if (ids.length > 0) {
    const users = ids.map((_id) => ({ _id, name: _id, createdAt }))
    await collections.users.insertMany(users, { session })
  }
  return accounts
}

/**
 * Creates the counters of the accounts that the batch opened, and changes those of the others. At most two commands.
 * @throws {DomainError} NOT_FOUND if an account was deleted. The transaction must not commit then.
 */
export async function countAll(
  { stats }: Pick<AccountParts, 'stats'>,
  tx: Tx,
  { opened }: Accounts,
  changes: ReadonlyMap<UserId, StatsChange>,
): Promise<void> {
  if (opened.size > 0) await stats.open(tx, [...opened], changes)
  const others = new Map([...changes].filter(([id]) => !opened.has(id)))
  if (others.size > 0) await stats.change(tx, others)
}

/** Sums what new edges add to the counters of their users. */
export function countEdges(edges: readonly Pair[]): Map<UserId, StatsChange> {
  const changes = new Map<UserId, StatsChange>()
  const add = (id: UserId, field: 'followers' | 'following') => {
    const change = changes.get(id)
    changes.set(id, { ...change, [field]: (change?.[field] ?? 0) + 1 })
  }
  for (const { follower, followee } of edges) {
    add(follower, 'following')
    add(followee, 'followers')
  }
  return changes
}
