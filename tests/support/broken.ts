import type { Restrictions } from '../../src/follows/restrictions.ts'
import type { UserId } from '../../src/lib/ids.ts'

/** Broken on purpose: nobody is muted. */
export function forgetsMutes(right: Restrictions): Restrictions {
  return Object.create(right, {
    between: {
      value: async (owner: UserId, others: readonly UserId[]) => {
        const found = await right.between(owner, others)
        return new Map([...found].filter(([, kinds]) => !kinds.has('MUTE') || kinds.size > 1))
      },
    },
  })
}
