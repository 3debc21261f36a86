import { isSnapshotGone } from '../db/errors.ts'
import type { Transactions, Tx } from '../db/transaction.ts'
import { DomainError } from '../errors.ts'
import { batches } from '../lib/batch.ts'
import type { Invariant, Verdict, Violation } from './invariant.ts'

/** The most suspects that are rechecked on one snapshot, or repaired in one transaction. */
const suspectsAtOnce = 40
const triesMax = 3

/** The options of an inspection. */
export interface Inspection {
  readonly transactions: Transactions
  /** False: nothing is written. */
  readonly repair: boolean
  /** Called for each read that is repeated because the server dropped its snapshot. */
  readonly onRetry?: () => void
}

/** A verdict, and the violations that are now repaired. */
export interface Outcome {
  readonly violations: readonly Violation[]
  readonly inFlight: number
  readonly repaired: readonly Violation[]
  /** Suspects that were not repaired because other writes kept colliding with the repair. */
  readonly busy: number
}

/**
 * Scans a range for one invariant and rechecks the suspects, 40 at a time. The recheck reads on one snapshot, or with
 * `repair` in the transaction that repairs them. Only the recheck decides: writes may commit between the reads of a
 * scan.
 * @throws {DomainError} UNAVAILABLE
 */
export async function* inspect<Range, Suspect>(
  inspection: Inspection,
  invariant: Invariant<Range, Suspect>,
  range: Range,
): AsyncGenerator<Outcome> {
  for await (const some of batches(invariant.scan(range), suspectsAtOnce)) {
    yield* inspectAll(inspection, invariant, some)
  }
}

async function* inspectAll<Suspect>(
  inspection: Inspection,
  invariant: Invariant<never, Suspect>,
  suspects: readonly Suspect[],
): AsyncGenerator<Outcome> {
  const { transactions, repair } = inspection
  if (!repair || !invariant.repair) {
    const what = `The check of ${invariant.name}`
    const { violations, inFlight = 0 } = await onSnapshot(inspection, what, (at) =>
      invariant.recheck(suspects, at),
    )
    yield { violations, inFlight, repaired: [], busy: 0 }
    return
  }
  try {
    yield await transactions.run((tx) => repairIn(tx, invariant, suspects))
    return
  } catch (error) {
    if (!(error instanceof DomainError && error.code === 'UNAVAILABLE')) throw error
  }
  if (suspects.length === 1) {
    yield { violations: [], inFlight: 0, repaired: [], busy: 1 }
    return
  }
  // Other writes keep changing the same users: try fewer at a time.
  const half = Math.ceil(suspects.length / 2)
  yield* inspectAll(inspection, invariant, suspects.slice(0, half))
  yield* inspectAll(inspection, invariant, suspects.slice(half))
}

async function repairIn<Suspect>(
  tx: Tx,
  invariant: Invariant<never, Suspect>,
  suspects: readonly Suspect[],
): Promise<Outcome> {
  await invariant.lock?.(tx, suspects)
  const { violations, inFlight = 0 }: Verdict = await invariant.recheck(suspects, tx)
  const repaired = violations.filter(({ finding }) => finding.unrepairable === undefined)
  if (repaired.length > 0) await invariant.repair?.(tx, repaired)
  return { violations, inFlight, repaired, busy: 0 }
}

/**
 * Reads on one snapshot. If the server drops the snapshot before the end, reads again, at most three times.
 * @param what the subject of the error message, such as "Counting".
 * @throws {DomainError} UNAVAILABLE if the server drops the third snapshot too.
 */
export async function onSnapshot<T>(
  { transactions, onRetry }: Pick<Inspection, 'transactions' | 'onRetry'>,
  what: string,
  read: (at: Tx) => Promise<T>,
): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await transactions.atSnapshot(read)
    } catch (error) {
      if (!isSnapshotGone(error)) throw error
      onRetry?.()
      if (tries < triesMax) continue
      throw new DomainError(
        'UNAVAILABLE',
        `${what} takes longer than the database keeps a snapshot: raise minSnapshotHistoryWindowInSeconds`,
        { cause: error },
      )
    }
  }
}
