import fc from 'fast-check'
import { afterAll, describe, expect, test } from 'vitest'
import { feedStrategyNames, materialisedNames } from '../../src/feed/strategies/list.ts'
import { noteFact } from '../support/facts.ts'
import { patient } from '../support/patience.ts'
import { share } from '../support/repetition.ts'
import { lawRuns, lawSeed } from '../support/seed.ts'
import { useSeparateTimelines } from '../support/separate-timelines.ts'
import { checkLaw } from './model/check-law.ts'
import { anyPollPlan } from './model/poll-plans.ts'
import { PollSimulation } from './model/poll-simulation.ts'
import { ProcessSimulation } from './model/process-simulation.ts'
import { type Setting, small } from './model/setting.ts'

const histories = lawRuns(2)
const budgetMs = 180_000 + histories * 6_000
const seed = Math.abs(lawSeed().seed ?? Date.now() % 1_000_000)

describe('a timelines cluster that loses its data again and again', () => {
  const separate = useSeparateTimelines(small(feedStrategyNames))
  const tally = new Map<string, number>()
  afterAll(() =>
    noteFact(`L7, timelines cluster: ${JSON.stringify(Object.fromEntries([...tally].sort()))}`),
  )

  test(
    'at rest, a poller holds its timeline, for any order of posts, losses, deliveries and changes',
    async () => {
      const { database, clock, cluster, rest, services } = separate
      const setting: Setting = {
        harness: { ...{ database, clock, rest, services }, following: 'collection' },
        ...{ cluster, tally, feed: small(feedStrategyNames), asked: feedStrategyNames },
        registered: materialisedNames.filter((name) => name !== 'INBOX'),
      }
      const law = fc.asyncProperty(anyPollPlan, async (plan) =>
        (await PollSimulation.open(setting, plan)).run(),
      )
      await checkLaw(law, { name: 'L7, timelines cluster', histories, budgetMs })
      expect(tally.get('timelines lost')).toBeGreaterThan(0)
    },
    patient(budgetMs + 30_000),
  )
})

describe.each(share(2, ['several processes and a timelines cluster']))('%s', () => {
  const separate = useSeparateTimelines({})

  test(
    'clients hold exactly their timelines after the cluster was lost in the middle, while workers are killed',
    async () => {
      const rounds = Math.min(20, lawRuns(1))
      const size = { followers: 300, rounds, burstMs: 2_500, starMs: 500 }
      const run = { size, seed, timelines: separate.set }
      const { costs, kills, tally } = await ProcessSimulation.run(separate, run)
      const writes = JSON.stringify(Object.fromEntries([...tally].sort()))
      noteFact(`L7 on two clusters, seed ${seed}: ${costs.polls} polls, ${kills} kills, ${writes}`)
      expect(costs.polls).toBeGreaterThan(50)
      expect(kills).toBeGreaterThan(0)
    },
    patient(600_000),
  )
})
