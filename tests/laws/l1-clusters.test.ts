import fc from 'fast-check'
import { afterAll, expect, test } from 'vitest'
import { feedStrategyNames, materialisedNames } from '../../src/feed/strategies/list.ts'
import { noteFact } from '../support/facts.ts'
import { patient } from '../support/patience.ts'
import { lawRuns } from '../support/seed.ts'
import { useSeparateTimelines } from '../support/separate-timelines.ts'
import { checkLaw } from './model/check-law.ts'
import { anyPlan } from './model/histories.ts'
import { type Setting, small } from './model/setting.ts'
import { Simulation } from './model/simulation.ts'

const histories = lawRuns(2)
const budgetMs = 180_000 + histories * 6_000
const registered = materialisedNames.filter((name) => name !== 'INBOX')

const separate = useSeparateTimelines(small(feedStrategyNames))
const tally = new Map<string, number>()
afterAll(() =>
  noteFact(`L1, timelines cluster: ${JSON.stringify(Object.fromEntries([...tally].sort()))}`),
)

test(
  'every page equals the model while a timelines cluster loses its data again and again',
  async () => {
    const { database, clock, cluster } = separate
    const harness = {
      ...{ database, clock, following: 'collection' as const, rest: separate.rest },
      services: separate.services,
    }
    const setting: Setting = {
      ...{ harness, cluster, registered, tally },
      ...{ feed: small(feedStrategyNames), asked: feedStrategyNames },
    }
    const law = fc.asyncProperty(anyPlan, async (plan) =>
      (await Simulation.open(setting, plan)).run(),
    )
    await checkLaw(law, { name: 'L1, timelines cluster', histories, budgetMs })
    expect(tally.get('timelines lost')).toBeGreaterThan(0)
    for (const one of registered) expect(tally.get(`${one} by ${one}`)).toBeGreaterThan(0)
  },
  patient(budgetMs + 30_000),
)
