import fc from 'fast-check'
import { afterAll, describe, expect, test } from 'vitest'
import { type FeedStrategyName, materialisedNames } from '../../src/timeline/strategies/list.ts'
import { noteFact } from '../support/facts.ts'
import { patient } from '../support/patience.ts'
import { share } from '../support/repetition.ts'
import { lawRuns } from '../support/seed.ts'
import { useServices } from '../support/services.ts'
import { checkLaw } from './model/check-law.ts'
import { pollMutants } from './model/poll-mutants.ts'
import { anyPollPlan } from './model/poll-plans.ts'
import { PollSimulation } from './model/poll-simulation.ts'
import { fewSeconds, type Setting, small } from './model/setting.ts'

const histories = lawRuns(6)
const budgetMs = 180_000 + histories * 3_000

/**
 * The index of the seed's first history that finds a mutant, if it is not the first. Earlier
 * histories are skipped.
 */
const shownAt: Record<string, string> = {
  'the watermark is computed after the page': '269',
  'the watermark ignores deliveries': '1',
  'the watermark ignores the skew of clocks': '32',
  'the watermark ignores open transactions': '1',
  'the timeline never changes': '11',
  'a poll cursor forgets that posts are settled': '69',
}

const settings: Record<string, { asked: readonly FeedStrategyName[]; feed: typeof small }> = {
  'every strategy': { asked: ['FANOUT_ON_READ', ...materialisedNames], feed: small },
  'timelines that keep entries for seconds': {
    asked: ['INBOX', 'TIME_BUCKETS', 'INBOX', 'SIZED_BUCKETS'],
    feed: fewSeconds,
  },
}

describe.each(Object.entries(settings))('%s', (name, { asked, feed }) => {
  const harness = useServices()
  const tally = new Map<string, number>()
  afterAll(() => noteFact(`L7, ${name}: ${JSON.stringify(Object.fromEntries([...tally].sort()))}`))

  test(
    'at rest, a poller holds its timeline, for any order of posts, commits, deliveries and changes',
    async () => {
      const registered = [...new Set(asked)]
      const setting: Setting = { harness, feed: feed(asked), asked, registered, tally }
      const law = fc.asyncProperty(anyPollPlan, async (plan) =>
        (await PollSimulation.open(setting, plan)).run(),
      )
      await checkLaw(law, { name: `L7, ${name}`, histories, budgetMs })
      expect(tally.size).toBeGreaterThan(0)
    },
    patient(budgetMs + 30_000),
  )
})

describe('L7 mutants', () => {
  const harness = useServices()

  test.each(share(3, Object.keys(pollMutants), 1))(
    'the law L7 finds the mutant: %s',
    async (name) => {
      const asked = ['INBOX'] as const
      const mutate = pollMutants[name]
      const tally = new Map<string, number>()
      const setting: Setting = {
        harness,
        feed: small(asked),
        asked,
        registered: asked,
        mutate,
        tally,
      }
      const law = fc.asyncProperty(anyPollPlan, async (plan) =>
        (await PollSimulation.open(setting, plan)).run(),
      )
      const path = shownAt[name] ?? '0'
      const outcome = await fc.check(law, { numRuns: 400, endOnFailure: true, seed: 1, path })
      noteFact(`L7 mutant: ${name}: failed after ${outcome.numRuns} histories`)
      expect(outcome).toMatchObject({ failed: true, interrupted: false })
      expect(String(outcome.errorInstance)).toContain('AssertionError')
    },
    patient(300_000),
  )
})
