import { DomainError } from '../errors.ts'

/**
 * How long writes may be turned away without any progress, in milliseconds. Above the 90 s for which
 * MongoDB may keep the open transaction, and so the locks, of any process that was killed.
 */
const patienceMs = 150_000
const batchMin = 25

/** Writes runs of items in order. */
export interface BatchWriter<T> {
  /** Writes a run of items in one transaction. */
  write(items: readonly T[]): Promise<void>
  /** Those not yet written: asked for where it is not known whether a write took effect. */
  unwritten(items: readonly T[]): Promise<readonly T[]>
}

/**
 * Writes `items` in order, all in one batch, or in smaller ones where writes keep colliding with
 * live traffic.
 * @param how `signal` ends it between two tries; `onBusy` hears of each try that was turned away.
 * @throws {DomainError} UNAVAILABLE after 150 s without progress; whatever else the writer throws,
 *   at once.
 */
export async function writePatiently<T>(
  items: readonly T[],
  writer: BatchWriter<T>,
  how: { signal?: AbortSignal | undefined; onBusy?: (() => void) | undefined },
): Promise<void> {
  let left = items
  let size = items.length
  let giveUpAt = performance.now() + patienceMs
  while (left.length > 0) {
    how.signal?.throwIfAborted()
    try {
      await writer.write(left.slice(0, size))
      left = left.slice(size)
      giveUpAt = performance.now() + patienceMs
    } catch (error) {
      const busy = error instanceof DomainError && error.code === 'UNAVAILABLE'
      if (!busy || performance.now() >= giveUpAt) throw error
      how.onBusy?.()
      left = await writer.unwritten(left)
      size = Math.max(Math.min(batchMin, size), size >> 1)
    }
  }
}
