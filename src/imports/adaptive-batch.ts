import { DomainError } from '../errors.ts'

/** Above the 90 s for which MongoDB may keep the open transaction of a killed process, with its locks. */
const withoutProgressMsMax = 150_000
const batchMin = 25

/** Writes rows in order. */
export interface BatchWriter<Row> {
  /** Writes rows in one transaction. */
  write(rows: readonly Row[]): Promise<void>
  /** Returns the rows that are not stored. A write that failed may have been committed. */
  unwritten(rows: readonly Row[]): Promise<readonly Row[]>
}

/**
 * Writes `rows` in order: all in one batch, or in smaller batches if live traffic locks the same data.
 * After each refused write, the batch has half as many rows, but at least 25.
 * @param options `signal` ends it between two writes; `onBusy` is called after each refused write.
 * @throws {DomainError} UNAVAILABLE after 150 s without progress. Other errors of the writer end it at once.
 */
export async function writeAdaptively<Row>(
  rows: readonly Row[],
  writer: BatchWriter<Row>,
  options: { signal?: AbortSignal | undefined; onBusy?: (() => void) | undefined },
): Promise<void> {
  let left = rows
  let size = rows.length
  let giveUpAt = performance.now() + withoutProgressMsMax
  while (left.length > 0) {
    options.signal?.throwIfAborted()
    try {
      await writer.write(left.slice(0, size))
      left = left.slice(size)
      giveUpAt = performance.now() + withoutProgressMsMax
    } catch (error) {
      const isBusy = error instanceof DomainError && error.code === 'UNAVAILABLE'
      if (!isBusy || performance.now() >= giveUpAt) throw error
      options.onBusy?.()
      left = await writer.unwritten(left)
      size = Math.max(Math.min(batchMin, size), size >> 1)
    }
  }
}
