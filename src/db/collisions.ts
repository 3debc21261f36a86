import { duplicateOf, isWriteConflict } from './errors.ts'

/** Thrown when a transaction keeps colliding with other processes. Nothing was written. */
export class Contended extends Error {
  override readonly name = 'Contended'
}

/** Thrown when the same unique value refuses a batch again on a newer snapshot: no repeat can succeed. Nothing was written. */
export class Poisoned extends Error {
  override readonly name = 'Poisoned'
}

/**
 * Watches the collisions of one transaction; to be passed to `Transactions.run`.
 * @param conflictsMax how many write conflicts end the run.
 * @returns a function that throws {@link Contended} or {@link Poisoned} once another try is of no use.
 */
export function watchCollisions(conflictsMax = Number.POSITIVE_INFINITY): (error: unknown) => void {
  const refused = new Set<string>()
  let conflicts = 0
  return (error) => {
    if (isWriteConflict(error) && ++conflicts >= conflictsMax) {
      throw new Contended('Other processes write to the same key', { cause: error })
    }
    const duplicate = duplicateOf(error)
    if (duplicate === undefined) return
    if (refused.has(duplicate)) {
      throw new Poisoned('A unique value is stored that the batch cannot see', { cause: error })
    }
    refused.add(duplicate)
  }
}
