import { duplicateValues, isWriteConflict } from './errors.ts'
import type { Tx } from './transaction.ts'

/** Thrown if a transaction keeps colliding with other processes. Nothing was written. */
export class Contended extends Error {
  override readonly name = 'Contended'
}

/**
 * Thrown if the same unique value refuses a batch again on a newer snapshot. No repeat can succeed.
 * Nothing was written.
 */
export class Poisoned extends Error {
  override readonly name = 'Poisoned'
}

/**
 * Creates the `onCollision` of one `Transactions.run`. It ends the run when another try would not
 * help.
 * @param conflictsMax number of write conflicts that end the run.
 * @returns a function that throws {@link Contended} or {@link Poisoned}.
 */
export function watchCollisions(conflictsMax = Number.POSITIVE_INFINITY): (error: unknown) => void {
  const refused = new Set<string>()
  let conflicts = 0
  return (error) => {
    if (isWriteConflict(error) && ++conflicts >= conflictsMax) {
      throw new Contended('Other transactions write to the same data', { cause: error })
    }
    const duplicate = duplicateValues(error)
    if (duplicate === undefined) return
    if (refused.has(duplicate)) {
      throw new Poisoned('A unique value is stored that the batch cannot see', { cause: error })
    }
    refused.add(duplicate)
  }
}

/**
 * Begins each try of a transaction after its first one with a lock. Of two transactions that change
 * the same document, the one that changes it first wins, and the other one is tried again. So a
 * long one that changes it last would never win against a process that writes short ones all the
 * time.
 * @param lock changes the document that the writes of others change too. One command for each
 *   further try.
 */
export function lockedAgain<T>(
  lock: (tx: Tx) => Promise<unknown>,
  work: (tx: Tx) => Promise<T>,
): (tx: Tx) => Promise<T> {
  let isFirst = true
  return async (tx) => {
    if (!isFirst) await lock(tx)
    isFirst = false
    return work(tx)
  }
}
