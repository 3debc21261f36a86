import type { NamedPair } from './import-accounts.ts'
import type { Line } from './text-file.ts'

/** Why an import skips a pair. */
export const skipReasons = ['known', 'blocked', 'deleted', 'unknown', 'empty'] as const
type SkipReason = (typeof skipReasons)[number]

/** A pair that an import skips, with its line. */
export interface SkippedPair extends NamedPair, Pick<Line, 'line'> {
  readonly reason: SkipReason
}

/** How many skipped pairs of each reason a report names. */
export const skippedKept = 5

/** The first pairs that a run has skipped, by the reason. */
export class SkippedPairs {
  readonly first: Readonly<Record<SkipReason, SkippedPair[]>> = {
    known: [],
    blocked: [],
    deleted: [],
    unknown: [],
    empty: [],
  }

  add(pairs: readonly SkippedPair[]): void {
    for (const pair of pairs) {
      const kept = this.first[pair.reason]
      if (kept.length < skippedKept) kept.push(pair)
    }
  }
}

/** How many pairs are skipped for each reason. */
export function countSkipped(pairs: readonly SkippedPair[]): Readonly<Record<SkipReason, number>> {
  const counts = { known: 0, blocked: 0, deleted: 0, unknown: 0, empty: 0 }
  for (const { reason } of pairs) counts[reason]++
  return counts
}
