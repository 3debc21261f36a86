import { conforms, shapes } from '../../db/shapes.ts'
import { type CountedUser, userCounters } from '../counted-users.ts'
import { type Finding, findingOf } from '../invariant.ts'
import { type Difference, differenceOf } from '../ledger.ts'

export const userCountersId = { name: 'user-counters', law: 'L3' } as const

/**
 * Law L3: `followers`, `following` and `posts` of a live account equal the numbers of its stored edges and posts. The
 * scan reads them on one snapshot, so a difference needs no recheck. The {@link Ledger} repairs it.
 * @returns undefined if all counters are right.
 */
export function userDifference({
  key,
  account,
  createdAt,
  stats,
  ...stored
}: CountedUser): Difference | undefined {
  if (account !== 'LIVE' || !stats || !conforms(shapes.user_stats, stats)) return undefined
  return differenceOf(
    { kind: 'USER', id: key, repairs: stats.repairs ?? 0, ...(createdAt && { since: createdAt }) },
    userCounters.map((name) => [name, stats[name], stored[name] ?? 0]),
  )
}

/** The findings of a user's difference as `verify` prints them: one for each counter that differs. */
export const userFindings = ({ id: subject, delta, counted }: Difference): Finding[] =>
  Object.entries(delta).map(([kind, count]) => {
    const found = counted[kind] ?? 0
    return findingOf(userCountersId, { kind, subject, expected: found + count, found })
  })
