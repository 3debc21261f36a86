import type { Tx } from '../db/transaction.ts'
import type { Run } from '../jobs/lease.ts'
import type { Task } from '../jobs/runner.ts'
import type { UserId } from '../lib/ids.ts'
import type { Users } from './users.ts'

/** A try to remove what a deleted account left. */
export interface Removal {
  readonly signal: AbortSignal
  /** Whether no write of the account that began before its deletion is still under way. */
  readonly isSettled: boolean
  /**
   * Whether the account still waits for this removal, in the transaction's view if one is given. If not, the documents
   * under the handle belong to its next owner: this worker was held up for longer than its lease.
   */
  readonly isDue: (tx?: Tx) => Promise<boolean>
  /** Called after each batch with the number of removed documents. */
  readonly onRemoved: (count: number) => Promise<void>
}

/** What an account deletion works with. */
export interface DeletionParts {
  readonly users: Users
  /** Each removes what one folder stores of the account, in this order. A repeat goes on where the last try ended. */
  readonly steps: readonly ((user: UserId, removal: Removal) => Promise<void>)[]
  /** The account's own timelines, removed last. */
  readonly timelines: {
    deleteReader(user: UserId): Promise<void>
    /** Fills the timelines again. */
    refill(user: UserId, signal: AbortSignal): Promise<void>
  }
}

/**
 * The task that ends a deleted account: removes what is left of it, at once and again when its last writes are settled.
 * Then it frees the handle.
 */
export const deleteAccount =
  ({ users, steps, timelines }: DeletionParts): Task =>
  async ({ user: given }, run) => {
    const user = given as UserId
    const leaver = await users.settle(user)
    if (!leaver) return
    const { since, settlesInMs } = leaver
    const isDue = async (tx?: Tx) =>
      (await users.leavingSince(user, tx))?.getTime() === since.getTime()
    const isSettled = settlesInMs <= 0
    const removal = { signal: run.signal, isSettled, isDue, onRemoved: countRemoved(run) }
    for (const remove of steps) await remove(user, removal)
    if (!(await isDue())) return
    if (!isSettled) return { continuesInMs: settlesInMs }
    await timelines.deleteReader(user)
    if (await isDue()) await users.free(user, since)
    // The worker was held up until the handle had its next owner, whose timelines were removed.
    else await timelines.refill(user, run.signal)
  }

/**
 * Saves the number of removed documents over all tries. The count only shows progress: a deletion that makes progress
 * is not parked after ten interrupted tries.
 */
function countRemoved({ checkpoint, save }: Run): (count: number) => Promise<void> {
  let { removed } = (checkpoint ?? { removed: 0 }) as { removed: number }
  return async (count) => {
    removed += count
    await save({ removed })
  }
}
