import { isSnapshotGone, isUnreachable } from '../db/errors.ts'
import type { Transactions, Tx } from '../db/transaction.ts'
import { DomainError } from '../errors.ts'
import { batches } from '../lib/batch.ts'
import type { Check, Invariant, Run, Violation } from './invariant.ts'
import { applyDifferences, type Difference } from './ledger.ts'
import { type Finding, findingOf, type InvariantId } from './report.ts'

/** The most suspects that are checked on one snapshot, or repaired in one transaction. */
const suspectsAtOnce = 40
const [rangesAtOnce, triesMax, repairsMax] = [2, 3, 4]

/**
 * The finding about data that a check or repair cannot work with. The next step of the same run
 * still runs.
 * @throws `error` itself if it says nothing about the data: the database is unavailable, or the run
 *   was ended.
 */
export function failureOf(id: InvariantId, error: unknown): Finding {
  const isAbort = error instanceof Error && error.name === 'AbortError'
  const isStated = error instanceof DomainError && error.code !== 'NOT_FOUND'
  if (isAbort || isStated || isUnreachable(error) || isSnapshotGone(error)) throw error
  const failure = error instanceof Error ? `${error.name}: ${error.message}` : String(error)
  return findingOf(id, {
    ...{ kind: 'unchecked', subject: id.name, expected: 'data that can be checked and repaired' },
    ...{
      found: failure.slice(0, 300),
      unrepairable: 'Correct the documents with findings of the kind shape.',
    },
  })
}

/** Checks an invariant range by range, two at a time, as {@link inspect} does. */
export const walk =
  <Suspect, V extends Violation>(create: (run: Run) => Invariant<Suspect, V>): Check =>
  async (run) => {
    const invariant = create(run)
    for await (const ranges of batches(invariant.ranges, rangesAtOnce)) {
      run.signal?.throwIfAborted()
      await Promise.all(ranges.map((range) => inspect(run, invariant, range)))
    }
  }

/**
 * Scans a range for one invariant and checks the suspects, 40 at a time, on one snapshot. Only the
 * check decides: writes may commit between the reads of a scan. If the server drops a snapshot,
 * checks half as many. If the run repairs, repairs violations until a check on a new snapshot finds
 * none, at most four times. A scan, check or repair that fails on the stored data is a finding, and
 * the next one begins.
 * @throws {DomainError} UNAVAILABLE
 */
export async function inspect<Suspect, V extends Violation>(
  run: Run,
  invariant: Invariant<Suspect, V>,
  range: object,
): Promise<void> {
  try {
    for await (const suspects of batches(invariant.scan(range), suspectsAtOnce)) {
      await inspectBatch(run, invariant, suspects)
    }
  } catch (error) {
    run.signal?.throwIfAborted()
    run.report.add(failureOf(invariant, error))
  }
}

async function inspectBatch<Suspect, V extends Violation>(
  run: Run,
  invariant: Invariant<Suspect, V>,
  suspects: readonly Suspect[],
): Promise<void> {
  const { report, repair } = run
  const findings = new Map<string, Finding>()
  try {
    for (let repairs = 0; ; repairs++) {
      run.signal?.throwIfAborted()
      const verdict = await onSnapshot(run.transactions, suspects.length, (at) =>
        invariant.check(suspects, at, true),
      )
      for (const { finding } of verdict.violations) findings.set(nameOf(finding), finding)
      const repairable = verdict.violations.filter(isRepairable)
      if (repair && repairable.length > 0 && repairs < repairsMax) {
        await repairBatch(run, invariant, suspects, repairable)
        continue
      }
      const left = new Set(verdict.violations.map(({ finding }) => nameOf(finding)))
      for (const [name, finding] of findings) report.add(finding, !left.has(name))
      report.inFlight += verdict.inFlight ?? 0
      return
    }
  } catch (error) {
    run.signal?.throwIfAborted()
    const isTooLong = isSnapshotGone(error)
    const isBusy = repair && error instanceof DomainError && error.code === 'UNAVAILABLE'
    const failure = isTooLong || isBusy ? undefined : failureOf(invariant, error)
    if (suspects.length === 1) {
      if (isTooLong) throw tooLong(invariant, error)
      if (isBusy && findings.size === 0) throw error
      for (const finding of failure ? [failure] : findings.values()) report.add(finding)
      return
    }
  }
  // Other writes keep changing the same users, the server has dropped the snapshot, or one of the
  // suspects cannot be checked: try fewer at a time.
  const half = Math.ceil(suspects.length / 2)
  await inspectBatch(run, invariant, suspects.slice(0, half))
  await inspectBatch(run, invariant, suspects.slice(half))
}

/**
 * Repairs violations in the transaction that checks them again. Differences follow when nothing
 * else is left.
 */
async function repairBatch<Suspect, V extends Violation>(
  { transactions, collections }: Run,
  invariant: Invariant<Suspect, V>,
  suspects: readonly Suspect[],
  repairable: readonly V[],
): Promise<void> {
  const differences = new Set<Difference>(repairable.flatMap(({ difference }) => difference ?? []))
  if (repairable.every(({ difference }) => difference !== undefined)) {
    await applyDifferences(collections, transactions, [...differences])
    return
  }
  await transactions.run(async (tx) => {
    await invariant.lock?.(tx, suspects)
    const { violations } = await invariant.check(suspects, tx, false)
    const still = violations.filter((one) => isRepairable(one) && !one.difference)
    if (still.length > 0) await invariant.repair?.(tx, still)
  })
}

const isRepairable = ({ finding }: Violation) => finding.unrepairable === undefined
const nameOf = ({ kind, subject }: Finding) => `${kind} ${subject}`

/**
 * Reads on one snapshot. For a single suspect, reads again if the server drops it, at most three
 * times.
 */
async function onSnapshot<T>(
  transactions: Transactions,
  suspects: number,
  read: (at: Tx) => Promise<T>,
): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await transactions.atSnapshot(read)
    } catch (error) {
      if (!isSnapshotGone(error) || suspects > 1 || tries === triesMax) throw error
    }
  }
}

function tooLong({ name }: InvariantId, cause: unknown): DomainError {
  const what = `The check of ${name}`
  return new DomainError(
    'UNAVAILABLE',
    `${what} takes longer than the database keeps a snapshot: raise minSnapshotHistoryWindowInSeconds`,
    { cause },
  )
}
