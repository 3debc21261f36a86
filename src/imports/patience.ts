import { DomainError } from '../errors.ts'

/**
 * How long writes may be turned away without any progress, in milliseconds. Above the 60 s for which MongoDB keeps
 * the open transaction, and so the locks, of a process that was killed.
 */
const patienceMs = 90_000
const batchMin = 25

/**
 * Writes `items` in order, all in one batch, or in smaller ones where writes keep colliding with live traffic.
 * @param write writes a run of items in one transaction.
 * @param remaining those not yet written, asked for when it is not known whether a write took effect.
 * @throws {DomainError} UNAVAILABLE after 90 s without progress; whatever else `write` throws, at once.
 */
export async function writePatiently<T>(
  items: readonly T[],
  write: (items: readonly T[]) => Promise<void>,
  remaining: (items: readonly T[]) => Promise<readonly T[]>,
): Promise<void> {
  let left = items
  let size = items.length
  let giveUpAt = performance.now() + patienceMs
  while (left.length > 0) {
    try {
      await write(left.slice(0, size))
      left = left.slice(size)
      giveUpAt = performance.now() + patienceMs
    } catch (error) {
      const busy = error instanceof DomainError && error.code === 'UNAVAILABLE'
      if (!busy || performance.now() >= giveUpAt) throw error
      left = await remaining(left)
      size = Math.max(Math.min(batchMin, size), size >> 1)
    }
  }
}
