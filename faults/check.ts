import type { Journal } from './journal.ts'
import type { ListReader } from './list-reader.ts'
import type { Model } from './model.ts'
import type { Register } from './register.ts'

/** The context of all checks at rest. */
export interface CheckContext {
  readonly model: Model
  readonly journal: Journal
  readonly lists: ListReader
  /** All edges that the lists of followees and the lists of followers show. */
  readonly edges: { readonly following: Set<string>; readonly followers: Set<string> }
}

/**
 * Compares a register with the found value.
 * Then sets the register to the found value, so that a violation is reported once.
 */
export function compareRegister(
  { journal }: Pick<CheckContext, 'journal'>,
  register: Register,
  found: boolean,
  subject: string,
): void {
  const now = performance.now()
  if (!register.possibleValues(now, now).has(found)) {
    const detail = found
      ? 'exists, but its removal was acknowledged'
      : 'is missing, but it was acknowledged'
    journal.recordViolation('lost', register.lastAcknowledgedMs, `${subject} ${detail}`)
  }
  register.resetTo(found, now)
}

/** Reports each duplicate in a list. @returns the distinct values. */
export function reportDuplicates(
  { journal }: CheckContext,
  values: readonly string[],
  subject: string,
): ReadonlySet<string> {
  const seen = new Set<string>()
  for (const value of values) {
    if (seen.has(value)) journal.recordViolation('twice', performance.now(), `${subject}: ${value}`)
    seen.add(value)
  }
  return seen
}

/** Reports a counter that differs from the length of its list. */
export function compareCount(
  { journal }: CheckContext,
  count: number,
  length: number,
  subject: string,
): void {
  if (count === length) return
  journal.recordViolation(
    'drift',
    performance.now(),
    `${subject}: counted ${count}, listed ${length}`,
  )
}
