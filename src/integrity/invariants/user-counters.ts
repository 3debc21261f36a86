import { type CountedUser, userCounters } from '../counted-users.ts'
import { type Finding, findingOf } from '../invariant.ts'
import { type Difference, differenceOf } from '../ledger.ts'

const invariant = { name: 'user-counters', law: 'L3' } as const

/**
 * Law L3: `followers`, `following` and `posts` of a live account equal its stored edges and posts. Scanned on one
 * snapshot, so a difference needs no recheck. Repaired by the {@link Ledger}.
 * @returns undefined when all counters are right.
 */
export function userDifference({
  key,
  account,
  createdAt,
  stats,
  ...stored
}: CountedUser): Difference | undefined {
  if (account !== 'LIVE' || !stats) return undefined
  return differenceOf(
    { kind: 'USER', id: key, repairs: stats.repairs ?? 0, ...(createdAt && { since: createdAt }) },
    userCounters.map((name) => [name, stats[name], stored[name] ?? 0]),
  )
}

/** A difference of a user as `verify` prints it: a finding for each counter. */
export const userFindings = ({ id: subject, by, counted }: Difference): Finding[] =>
  Object.entries(by).map(([kind, count]) => {
    const found = counted[kind] ?? 0
    return findingOf(invariant, { kind, subject, expected: found + count, found })
  })
