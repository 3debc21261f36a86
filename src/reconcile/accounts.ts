import type { Collections } from '../db/collections.ts'
import type { Transactions } from '../db/transaction.ts'
import type { CountedUser } from './counted.ts'

/** Whether a handle has an account and no counters, or counters and no account. */
export const isTorn = ({ account, stats }: CountedUser): boolean =>
  (account === 'LIVE') !== (stats !== undefined)

/**
 * Gives live accounts without counters new ones, at 0 until the next look, and takes counters away that nobody has.
 * One transaction of four commands.
 * @returns how many there were.
 */
export async function mendAccounts(
  { users, user_stats }: Pick<Collections, 'users' | 'user_stats'>,
  transactions: Transactions,
  handles: readonly string[],
): Promise<number> {
  const among = { _id: { $in: [...handles] } }
  return transactions.run(async (tx) => {
    const live = new Set(
      (await users.find({ ...among, deletedAt: { $exists: false } }, { ...tx }).toArray()).map(
        ({ _id }) => _id,
      ),
    )
    const counting = await user_stats.find(among, { ...tx }).toArray()
    const nobodys = counting.filter(({ _id }) => !live.has(_id)).map(({ _id }) => _id)
    for (const { _id } of counting) live.delete(_id)
    const zero = { followers: 0, following: 0, posts: 0 }
    const { session } = tx
    if (live.size > 0) {
      await user_stats.insertMany(
        [...live].map((_id) => ({ _id, ...zero })),
        { session },
      )
    }
    if (nobodys.length > 0) await user_stats.deleteMany({ _id: { $in: nobodys } }, { session })
    return live.size + nobodys.length
  })
}
