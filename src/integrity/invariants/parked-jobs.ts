import type { JobDoc } from '../../db/collections.ts'
import { walk } from '../inspect.ts'
import type { Check, IntegrityServices, Invariant } from '../invariant.ts'
import { findingOf } from '../report.ts'

const invariant = { name: 'parked-jobs', law: 'L4' } as const

const advice = 'Look at it with "feedline jobs", then retry or drop it.'

/** Law L4: no job is parked. The work of a parked job stays undone. A recheck is one command. */
const parkedJobs = ({ collections: { outbox } }: IntegrityServices): Invariant<JobDoc> => ({
  ...invariant,
  ranges: [{}],
  scan: () => outbox.find({ state: 'PARKED' }),
  async check(jobs, at) {
    const parked = { _id: { $in: jobs.map(({ _id }) => _id) }, state: 'PARKED' as const }
    const standing = await outbox.find(parked, { ...at }).toArray()
    const violations = standing.map(({ _id, kind, error }) => ({
      finding: findingOf(invariant, {
        kind: 'parked',
        subject: `${kind} ${_id}`,
        expected: 'done, or due',
        found: `parked: ${error ?? 'no error'}`,
        unrepairable: advice,
      }),
    }))
    return { violations }
  },
})

export const checkParkedJobs: Check = walk(parkedJobs)
