import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { MaterialisedName } from '../../src/timeline/strategies/list.ts'
import { noteFact } from '../support/facts.ts'
import { patient } from '../support/patience.ts'
import { share } from '../support/repetition.ts'
import { useServices } from '../support/services.ts'
import {
  accountDeletion,
  anyPlan,
  deletionFromFullCache,
  deliveriesDuringBuild,
  type Plan,
  pageBelowCache,
  staleFloor,
} from './model/histories.ts'
import { floorMutants, mutants, removalMutants } from './model/mutants.ts'
import { fewSeconds, type Setting, small } from './model/setting.ts'
import { Simulation } from './model/simulation.ts'

const harness = useServices()

/** Histories that find mutants which few random histories find. They come first. */
const examples: Readonly<Record<string, readonly Plan[]>> = {
  'a delivery during the creation of the cache is lost': deliveriesDuringBuild,
  'a page beyond the end of the cache is never pending': [pageBelowCache],
  'a full cache loses a post and still claims the same range': [deletionFromFullCache],
  'the ranges of a removal retract no post': [accountDeletion],
  'a page ignores the floor': [staleFloor],
  'a page does not see that the floor has risen since it began': [staleFloor],
}

const all = [
  ...(Object.keys(mutants) as MaterialisedName[]).flatMap((strategy) =>
    Object.keys(mutants[strategy] ?? {}).map((name) => [strategy, name, small] as const),
  ),
  ...Object.keys(floorMutants).map((name) => ['INBOX', name, fewSeconds] as const),
  ...Object.keys(removalMutants).map((name) => ['INBOX', name, small] as const),
]

const named = { ...floorMutants, ...removalMutants }
for (const some of Object.values(mutants)) Object.assign(named, some)

test.each(share(3, all))(
  'the law L1 finds the mutant of %s: %s',
  async (strategy, name, feed) => {
    const asked = ['FANOUT_ON_READ', strategy] as const
    const setting: Setting = {
      harness,
      feed: feed(asked),
      asked,
      registered: [strategy],
      mutate: named[name],
      tally: new Map(),
    }
    const law = fc.asyncProperty(anyPlan, async (plan) =>
      (await Simulation.open(setting, plan)).run(),
    )
    const plans = examples[name] ?? []
    for (const plan of plans)
      await (await Simulation.open({ ...setting, mutate: undefined }, plan)).run()
    const outcome = await fc.check(law, {
      ...{ numRuns: 100, endOnFailure: true, seed: 1 },
      examples: plans.map((plan): [Plan] => [plan]),
    })
    noteFact(`L1 mutant: ${strategy}: ${name}: failed after ${outcome.numRuns} histories`)
    expect(outcome).toMatchObject({ failed: true, interrupted: false })
    expect(String(outcome.errorInstance)).toContain('AssertionError')
    expect(String(outcome.errorInstance)).toContain(strategy)
  },
  patient(300_000),
)
