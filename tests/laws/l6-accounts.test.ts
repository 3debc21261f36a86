import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { noteFact } from '../support/facts.ts'
import { patient } from '../support/patience.ts'
import { lawRuns } from '../support/seed.ts'
import { useServices } from '../support/services.ts'
import { type AccountPlan, anyAccountPlan, renamesAndReturn } from './model/account-plans.ts'
import { type AccountServers, accountServers, accountStrategies } from './model/account-servers.ts'
import { AccountSimulation } from './model/account-simulation.ts'
import { checkLaw } from './model/check-law.ts'

const histories = lawRuns(6)
const budgetMs = 180_000 + histories * 10_000
const harness = useServices('collection', undefined, {
  maintained: accountStrategies,
  cacheSize: 3,
})
let setting: AccountServers
beforeAll(async () => {
  setting = await accountServers(harness)
})
afterAll(() => setting.close())
const tally = new Map<string, number>()
afterAll(() => noteFact(`L6, accounts: ${JSON.stringify(Object.fromEntries([...tally].sort()))}`))

test(
  'for any renames, deletions and returns, every answer of two servers equals the model',
  async () => {
    const law = fc.asyncProperty(anyAccountPlan, async (plan) =>
      new AccountSimulation(setting, plan, tally).run(),
    )
    const examples: [AccountPlan][] = [[renamesAndReturn]]
    await checkLaw(law, { name: 'L6, accounts', histories, budgetMs, examples })
    const events = ['returns', 'createUser repeats', 'createPost repeats']
    expect([...tally.keys()]).toEqual(expect.arrayContaining(events))
  },
  patient(budgetMs + 30_000),
)
