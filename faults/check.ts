import type { Journal } from './journal.ts'
import type { Lists } from './lists.ts'
import type { Model } from './model.ts'
import type { Register } from './register.ts'

/** What a check needs. */
export interface Check {
  readonly model: Model
  readonly journal: Journal
  readonly lists: Lists
  /** Every edge as the lists of its two ends show it. */
  readonly edges: { readonly following: Set<string>; readonly followers: Set<string> }
}

/** Compares a register with what was found, then takes that over. */
export function judge(
  { journal }: Pick<Check, 'journal'>,
  register: Register,
  found: boolean,
  what: string,
): void {
  const now = performance.now()
  if (!register.possible(now, now).has(found)) {
    const detail = found ? 'exists; its end was acknowledged' : 'is missing; it was acknowledged'
    journal.violate('lost', register.lastMs, `${what} ${detail}`)
  }
  register.settle(found, now)
}

/** Reports each value that a list holds more than once. */
export function reportTwice(
  { journal }: Check,
  values: readonly string[],
  what: string,
): ReadonlySet<string> {
  const seen = new Set<string>()
  for (const value of values) {
    if (seen.has(value)) journal.violate('twice', performance.now(), `${what}: ${value}`)
    seen.add(value)
  }
  return seen
}

/** Reports a counter that is not the length of its list. */
export function compareCount(
  { journal }: Check,
  count: number,
  length: number,
  what: string,
): void {
  if (count === length) return
  journal.violate('drift', performance.now(), `${what}: counted ${count}, listed ${length}`)
}
