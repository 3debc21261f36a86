import fc from 'fast-check'
import { afterAll, describe, expect, test } from 'vitest'
import {
  type FeedStrategyName,
  feedStrategyNames,
  materialisedNames,
} from '../../src/timeline/strategies/list.ts'
import { noteFact } from '../support/facts.ts'
import { patient } from '../support/patience.ts'
import { lawRuns } from '../support/seed.ts'
import { useServices } from '../support/services.ts'
import { checkLaw } from './model/check-law.ts'
import { accountDeletion, anyPlan, lateDelivery, type Plan, staleFloor } from './model/histories.ts'
import { fewSeconds, type Setting, small } from './model/setting.ts'
import { Simulation } from './model/simulation.ts'

const histories = lawRuns(4)
const budgetMs = 180_000 + histories * 3_000

const settings = {
  'every strategy': {
    following: 'collection',
    asked: feedStrategyNames,
    registered: materialisedNames,
    feed: small,
  },
  'INBOX and CACHE': {
    following: 'reverse-index',
    asked: ['FANOUT_ON_READ', 'INBOX', 'CACHE', 'INBOX'],
    registered: ['INBOX', 'CACHE'],
    feed: small,
  },
  'INBOX and buckets that keep entries for seconds': {
    following: 'collection',
    asked: feedStrategyNames.filter((name) => name !== 'CACHE'),
    registered: materialisedNames.filter((name) => name !== 'CACHE'),
    feed: fewSeconds,
  },
} as const satisfies Record<
  string,
  {
    following: 'collection' | 'reverse-index'
    asked: readonly FeedStrategyName[]
    registered: readonly FeedStrategyName[]
    feed: typeof small
  }
>

describe.each(Object.keys(settings) as (keyof typeof settings)[])('%s', (name) => {
  const { following, asked, registered, feed } = settings[name]
  const harness = useServices(following)
  const tally = new Map<string, number>()
  afterAll(() =>
    noteFact(`L1, ${following}: ${JSON.stringify(Object.fromEntries([...tally].sort()))}`),
  )

  test(
    'every page of every strategy equals the model, for any order and failure of deliveries',
    async () => {
      const setting: Setting = { harness, feed: feed(asked), asked, registered, tally }
      const law = fc.asyncProperty(anyPlan, async (plan) =>
        (await Simulation.open(setting, plan)).run(),
      )
      const examples: [Plan][] = [[accountDeletion], [staleFloor], [lateDelivery]]
      await checkLaw(law, { name: `L1, ${name}`, histories, budgetMs, examples })
      // The removal of an account is split.
      expect(tally.get('done user.deleted.range')).toBeGreaterThan(0)
      for (const one of registered) expect(tally.get(`${one} by ${one}`)).toBeGreaterThan(0)
    },
    patient(budgetMs + 30_000),
  )
})
