import { expect, test } from 'vitest'
import { feedStrategyNames, materialisedNames } from '../../src/timeline/strategies/list.ts'
import { noteFact } from '../support/facts.ts'
import { patient } from '../support/patience.ts'
import { useServices } from '../support/services.ts'
import {
  lawKills,
  openAudience,
  publishUnderKills,
  restAfterKills,
} from './model/killed-deliveries.ts'
import { storedProblems } from './model/stored-timelines.ts'

const kills = lawKills(5)
const cacheSize = 50
const harness = useServices('collection', undefined, {
  maintained: feedStrategyNames,
  cacheSize,
})
const ofInbox = useServices('collection', undefined, { maintained: ['FANOUT_ON_READ', 'INBOX'] })

test(
  'processes that are killed at any moment of a delivery lose no post and store none twice',
  async () => {
    const { services } = harness
    const plan = {
      // 1,000 followers on average.
      ...{ audiences: [100, 900, 2_000], kills, pauseMs: 250 },
      variables: [{ FEED_MAINTAINED: materialisedNames.join() }],
    }
    const audience = await openAudience(harness, plan)
    // Some of the followers have a cache.
    for (const reader of audience.readers.slice(0, 40)) {
      const window = { limit: 1, backward: false }
      await services.feed.timeline(reader, { window, strategy: 'CACHE', projection: 'ref' })
    }
    const { posts, acknowledged } = await publishUnderKills(harness, audience, plan)
    const parked = await restAfterKills(harness)

    const there = new Set(posts.map(({ id }) => id))
    expect(acknowledged.filter(({ id }) => !there.has(id))).toEqual([])
    const summary = `${posts.length} posts, ${acknowledged.length} acknowledged, ${parked} parked`
    noteFact(`L4: ${kills} kills, ${summary}`)
    expect(posts.length).toBeGreaterThan(kills)
    const { collections } = services
    expect(await storedProblems(collections, audience.expected(posts), cacheSize)).toEqual([])
    expect(await collections.outbox.countDocuments()).toBe(0)
  },
  patient(600_000),
)

test(
  'processes that are killed at any moment of posts without jobs lose none and store none twice',
  async () => {
    const plan = {
      ...{ audiences: [100, 40, 200], kills, pauseMs: 20 },
      variables: [{ FEED_MAINTAINED: 'INBOX' }],
    }
    const audience = await openAudience(ofInbox, plan)
    const { posts, acknowledged } = await publishUnderKills(ofInbox, audience, plan)
    await restAfterKills(ofInbox)
    const there = new Set(posts.map(({ id }) => id))
    expect(acknowledged.filter(({ id }) => !there.has(id))).toEqual([])
    const { collections } = ofInbox.services
    const all = Number.POSITIVE_INFINITY
    const problems = await storedProblems(collections, audience.expected(posts), cacheSize, all)
    // No other strategy is registered.
    expect(problems.filter((problem) => problem.startsWith('inbox'))).toEqual([])
    expect(await collections.outbox.countDocuments()).toBe(0)
    noteFact(`L4, posts without jobs: ${kills} kills, ${posts.length} posts`)
  },
  patient(600_000),
)
