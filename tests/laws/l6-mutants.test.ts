import fc from 'fast-check'
import { expect, test } from 'vitest'
import { noteFact } from '../support/facts.ts'
import { patient } from '../support/patience.ts'
import { share } from '../support/repetition.ts'
import { useServices } from '../support/services.ts'
import { accountMutants } from './model/account-mutants.ts'
import { anyAccountPlan } from './model/account-plans.ts'
import { accountServers, accountStrategies } from './model/account-servers.ts'
import { AccountSimulation } from './model/account-simulation.ts'

const harness = useServices('collection', undefined, {
  maintained: accountStrategies,
  cacheSize: 3,
})

/**
 * The index of the seed's first history that finds a mutant, if it is not the first. Earlier
 * histories are skipped.
 */
const shownAt: Record<string, string> = {
  'an account that returns has the id of the deleted one': '1',
  'a handle that was given up is never free': '2',
  'a subject is free before its account is forgotten': '1',
  'a subject without an account is remembered': '12',
  'an account is remembered for two minutes': '1',
}

test.each(share(3, Object.keys(accountMutants), 2))(
  'the law L6 finds the mutant: %s',
  async (name) => {
    const setting = await accountServers(harness, accountMutants[name])
    const law = fc.asyncProperty(anyAccountPlan, async (plan) =>
      new AccountSimulation(setting, plan, new Map()).run(),
    )
    const path = shownAt[name] ?? '0'
    const outcome = await fc.check(law, { numRuns: 100, endOnFailure: true, seed: 1, path })
    await setting.close()
    noteFact(`L6 mutant: ${name}: failed after ${outcome.numRuns} histories`)
    expect(outcome).toMatchObject({ failed: true, interrupted: false })
    expect(String(outcome.errorInstance)).toContain('AssertionError')
  },
  patient(300_000),
)
