import { type Finding, findingOf } from '../invariant.ts'
import type { Difference } from '../ledger.ts'

const invariant = { name: 'post-counters', law: 'L2' } as const

/**
 * Law L2: the counts of a post equal the entries in its lists. {@link PostLists} counts both on one snapshot, so a
 * difference needs no recheck. Repaired by the {@link Ledger}.
 * @returns a finding for each count of the difference.
 */
export const postFindings = ({ id, by, counted }: Difference): Finding[] =>
  Object.entries(by).map(([name, count]) => {
    const found = counted[name] ?? 0
    const subject = `${id}.${name}`
    return findingOf(invariant, { kind: 'counts', subject, expected: found + count, found })
  })
