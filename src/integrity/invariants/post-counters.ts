import { type Finding, findingOf } from '../invariant.ts'
import type { Difference } from '../ledger.ts'

export const postCounters = { name: 'post-counters', law: 'L2' } as const

/**
 * Law L2: the counts of a post equal the numbers of entries in its lists. {@link PostLists} counts both on one
 * snapshot, so a difference needs no recheck. The {@link Ledger} repairs it.
 * @returns one finding for each counter that differs.
 */
export const postFindings = ({ id, delta, counted }: Difference): Finding[] =>
  Object.entries(delta).map(([name, count]) => {
    const found = counted[name] ?? 0
    const subject = `${id}.${name}`
    return findingOf(postCounters, { kind: 'counts', subject, expected: found + count, found })
  })
