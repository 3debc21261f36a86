import type { StrategyDoc } from '../../db/collections.ts'
import { wellFormed } from '../../db/shapes.ts'
import type { NewJob } from '../../jobs/outbox.ts'
import { walk } from '../inspect.ts'
import type { Check, IntegrityServices, Invariant, Violation } from '../invariant.ts'
import { findingOf } from '../report.ts'

/** Registrations that are not being dropped. */
const standing = { dropping: { $exists: false }, ...wellFormed('strategies') }

const invariant = { name: 'unfinished-strategies', law: 'L1' } as const

interface StrategyViolation extends Violation {
  readonly strategy: StrategyDoc
}

/**
 * Law L1: a strategy that does not cover all readers has a job that back-fills their timelines.
 * Until then their pages come from FANOUT_ON_READ. The repair inserts the job. A recheck is two
 * commands.
 */
const unfinishedStrategies = ({
  collections: { strategies, outbox },
  outbox: jobs,
}: IntegrityServices): Invariant<StrategyDoc, StrategyViolation> => ({
  ...invariant,
  ranges: [{}],
  scan: () => strategies.find({ complete: false, ...standing }),
  async check(some, at) {
    const names = { _id: { $in: some.map(({ _id }) => _id) }, ...standing }
    const open = await strategies.find({ ...names, complete: false }, { ...at }).toArray()
    const backfills = { kind: 'strategy.backfill', ...wellFormed('outbox') }
    const filling = await outbox.find(backfills, { ...at }).toArray()
    const epochs = new Set(filling.map(({ payload }) => payload.epoch))
    const left = open.filter(({ epoch }) => !epochs.has(epoch.toHexString()))
    const [expected, none] = ['a job that fills the timelines of all readers', 'none']
    const violations = left.map((strategy) => {
      const discrepancy = { kind: 'backfill', subject: strategy._id, expected, found: none }
      return { strategy, finding: findingOf(invariant, discrepancy) }
    })
    return { violations, inFlight: open.length - left.length }
  },
  async repair(tx, violations) {
    const backfills = violations.map(({ strategy: { _id: strategy, epoch } }): NewJob => {
      const payload = { strategy, epoch: epoch.toHexString() }
      return { kind: 'strategy.backfill', payload, queue: 'BULK' }
    })
    await jobs.enqueue(tx, backfills)
  },
})

export const checkUnfinishedStrategies: Check = walk(unfinishedStrategies)
