import { isSnapshotGone, isUnreachable } from '../db/errors.ts'
import type { Transactions, Tx } from '../db/transaction.ts'
import { DomainError } from '../errors.ts'
import { batches } from '../lib/batch.ts'
import {
  type Finding,
  findingOf,
  type Invariant,
  type InvariantId,
  type Verdict,
  type Violation,
} from './invariant.ts'

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
  /** Suspects that are not repaired: other writes kept colliding with the repair, or it had no effect. */
  readonly remaining: number
}

/**
 * The finding about data that a check or repair cannot work with. A later step of the same run still runs.
 * @throws `error` itself if it says nothing about the data: the database is unavailable, or the run was ended.
 */
export function failureOf(id: InvariantId, error: unknown): Finding {
  const isAbort = error instanceof Error && error.name === 'AbortError'
  const isStated = error instanceof DomainError && error.code !== 'NOT_FOUND'
  if (isAbort || isStated || isUnreachable(error) || isSnapshotGone(error)) throw error
  const found = error instanceof Error ? `${error.name}: ${error.message}` : String(error)
  return findingOf(id, {
    ...{ kind: 'unchecked', subject: id.name, expected: 'data that can be checked and repaired' },
    ...{
      found: found.slice(0, 300),
      unrepairable: 'Correct the documents with findings of the kind shape.',
    },
  })
}

/**
 * Scans a range for one invariant and rechecks the suspects, 40 at a time. The recheck reads on one snapshot, or with
 * `repair` in the transaction that repairs them. Only the recheck decides: writes may commit between the reads of a
 * scan. A scan, check or repair that fails on the stored data is a finding, and the next one begins.
 * @throws {DomainError} UNAVAILABLE
 */
export async function* inspect<Range, Suspect>(
  inspection: Inspection,
  invariant: Invariant<Range, Suspect>,
  range: Range,
): AsyncGenerator<Outcome> {
  const suspects = batches(invariant.scan(range), suspectsAtOnce)
  for (;;) {
    let some: IteratorResult<Suspect[], void>
    try {
      some = await suspects.next()
    } catch (error) {
      yield failed(invariant, error)
      return
    }
    if (some.done) return
    yield* inspectAll(inspection, invariant, some.value)
  }
}

async function* inspectAll<Suspect>(
  inspection: Inspection,
  invariant: Invariant<never, Suspect>,
  suspects: readonly Suspect[],
): AsyncGenerator<Outcome> {
  const { transactions, repair } = inspection
  const isBusy = (error: unknown) => error instanceof DomainError && error.code === 'UNAVAILABLE'
  try {
    if (repair && invariant.repair) {
      yield await transactions.run((tx) => repairIn(tx, invariant, suspects))
      return
    }
    const what = `The check of ${invariant.name}`
    const { violations, inFlight = 0 } = await onSnapshot(inspection, what, (at) =>
      invariant.recheck(suspects, at),
    )
    yield { violations, inFlight, repaired: [], remaining: 0 }
    return
  } catch (error) {
    const isRepair = repair && invariant.repair !== undefined
    if (!isRepair && isBusy(error)) throw error
    if (suspects.length === 1) {
      yield isBusy(error)
        ? { violations: [], inFlight: 0, repaired: [], remaining: 1 }
        : failed(invariant, error)
      return
    }
    if (!isBusy(error)) failureOf(invariant, error)
  }
  // Other writes keep changing the same users, or one of the suspects cannot be checked: try fewer at a time.
  const half = Math.ceil(suspects.length / 2)
  yield* inspectAll(inspection, invariant, suspects.slice(0, half))
  yield* inspectAll(inspection, invariant, suspects.slice(half))
}

const failed = (invariant: InvariantId, error: unknown): Outcome => ({
  ...{ violations: [{ finding: failureOf(invariant, error) }], inFlight: 0 },
  ...{ repaired: [], remaining: 0 },
})

/** Repairs violations, and checks them again in the same transaction. Only those that are gone count as repaired. */
async function repairIn<Suspect>(
  tx: Tx,
  invariant: Invariant<never, Suspect>,
  suspects: readonly Suspect[],
): Promise<Outcome> {
  await invariant.lock?.(tx, suspects)
  const { violations, inFlight = 0 }: Verdict = await invariant.recheck(suspects, tx)
  const repairable = violations.filter(({ finding }) => finding.unrepairable === undefined)
  if (repairable.length === 0) return { violations, inFlight, repaired: [], remaining: 0 }
  await invariant.repair?.(tx, repairable)
  const again = await invariant.recheck(suspects, tx)
  const left = new Set(again.violations.map(({ finding }) => nameOf(finding)))
  const repaired = repairable.filter(({ finding }) => !left.has(nameOf(finding)))
  return { violations, inFlight, repaired, remaining: repairable.length - repaired.length }
}

const nameOf = ({ kind, subject }: Finding) => `${kind} ${subject}`

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
