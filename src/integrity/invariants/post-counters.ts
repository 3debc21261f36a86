import type { Finding } from '../invariant.ts'
import type { Difference } from '../ledger.ts'

/**
 * Law L2: the counts of a post equal the entries in its lists. {@link PostLists} counts both on one snapshot, so a
 * difference needs no recheck. Repaired by the {@link Ledger}.
 * @returns a finding for each count of the difference.
 */
export const postFindings = ({ id, by, counted }: Difference): Finding[] =>
  Object.entries(by).map(([name, count]) => {
    const found = counted[name] ?? 0
    const subject = `${id}.${name}`
    return { law: 'L2', kind: 'counts', subject, expected: found + count, found }
  })
