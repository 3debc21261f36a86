import { expect, test } from 'vitest'
import type { MaterialisedName } from '../../src/feed/strategies/list.ts'
import { noteFact } from '../support/facts.ts'
import { useSeparateTimelines } from '../support/separate-timelines.ts'
import {
  lawKills,
  openAudience,
  publishUnderKills,
  restAfterKills,
} from './model/killed-deliveries.ts'
import { comparedTimelines, storedProblems } from './model/stored-timelines.ts'

const kills = lawKills(2)
const maintained: MaterialisedName[] = ['INBOX', 'TIME_BUCKETS', 'SIZED_BUCKETS']
const separate = useSeparateTimelines({ maintained })

test('processes are killed, and the timelines cluster is lost in the middle: no timeline lacks a post or stores one twice', async () => {
  const { services, set, database } = separate
  const plan = {
    ...{ audiences: [50, 200, 400], kills, pauseMs: 100 },
    variables: [{ FEED_MAINTAINED: maintained.join(), TIMELINES_URI: set.uri }],
    onKill: async (killed: number) => {
      if (killed !== Math.ceil(kills / 2)) return
      await set.kill()
      await set.start('empty')
    },
  }
  const audience = await openAudience(separate, plan)
  // These deliveries have ended before the loss, so only a rebuild restores them.
  for (const author of audience.authors) await services.posts.create(author, { text: 'early' })
  await separate.rest()
  const { posts, acknowledged } = await publishUnderKills(separate, audience, plan)
  const { collections, clusterRepair, registry } = services
  const isServed = async () => {
    await clusterRepair.run().catch(() => {})
    await restAfterKills(separate).catch(() => {})
    const complete = [...(await registry.read()).values()].filter((one) => one.complete)
    const left = await collections.outbox.countDocuments()
    return complete.length === maintained.length && left === 0
  }
  await expect.poll(isServed, { timeout: 60_000, interval: 100 }).toBe(true)

  const there = new Set(posts.map(({ id }) => id))
  expect(acknowledged.filter(({ id }) => !there.has(id))).toEqual([])
  expect(posts.length).toBeGreaterThan(kills)
  noteFact(`L4, timelines cluster: ${kills} kills, ${posts.length} posts`)
  expect(await storedProblems(collections, audience.expected(posts), 0)).toEqual([])
  const { authors, readers } = audience
  const sample = [...authors, ...readers.filter((_, n) => n % 16 === 0)]
  const { problems, pending, served } = await comparedTimelines(services, sample, maintained)
  expect([problems, pending]).toEqual([[], []])
  expect([...served].sort()).toEqual([...maintained].sort())
  // No timeline is in the database.
  expect(await database.db.collection('inbox').estimatedDocumentCount()).toBe(0)
}, 600_000)
