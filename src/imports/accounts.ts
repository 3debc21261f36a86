import type { Collections } from '../db/collections.ts'
import type { Tx } from '../db/transaction.ts'
import type { UserId } from '../lib/ids.ts'

/**
 * Which of the handles asked for are live accounts now, and which of those were opened just now.
 */
export interface Accounts {
  readonly live: ReadonlySet<UserId>
  readonly opened: ReadonlySet<UserId>
}

/**
 * Opens an account, with its counters, for each handle that is free; a deleted one that is still
 * being cleared stays so. Within the caller's transaction: one command, three when one is free.
 * @param createdAt the date of those opened.
 */
export async function openAccounts(
  { users, user_stats }: Pick<Collections, 'users' | 'user_stats'>,
  tx: Tx,
  handles: ReadonlySet<UserId>,
  createdAt: Date,
): Promise<Accounts> {
  const { session } = tx
  const known = await users
    .find({ _id: { $in: [...handles] } }, { session, projection: { _id: 1, deletedAt: 1 } })
    .toArray()
  const live = new Set(handles)
  const free = new Set(handles)
  for (const { _id, deletedAt } of known) {
    free.delete(_id as UserId)
    if (deletedAt) live.delete(_id as UserId)
  }
  if (free.size > 0) {
    const ids = [...free]
    await users.insertMany(
      ids.map((_id) => ({ _id, name: _id, createdAt })),
      { session },
    )
    const none = { followers: 0, following: 0, posts: 0 }
    await user_stats.insertMany(
      ids.map((_id) => ({ _id, ...none })),
      { session },
    )
  }
  return { live, opened: free }
}
