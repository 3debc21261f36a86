import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { toObjectId } from '../../src/db/object-id.ts'
import type { PostId, UserId } from '../../src/lib/ids.ts'
import type { MaterialisedName } from '../../src/timeline/strategies/list.ts'
import { noteFact } from '../support/facts.ts'
import { patient } from '../support/patience.ts'
import { useServices } from '../support/services.ts'
import {
  lawKills,
  openAudience,
  publishUnderKills,
  restAfterKills,
} from './model/killed-deliveries.ts'
import { comparedTimelines, repeatsStored } from './model/stored-timelines.ts'

const maintained: MaterialisedName[] = ['INBOX', 'TIME_BUCKETS', 'SIZED_BUCKETS']

const kills = lawKills(3)
/** How long entries are kept, in milliseconds. */
const keptMs = 1_500
const harness = useServices('collection', undefined, {
  ...{ maintained, timeBucketDays: 1 / 86_400, sizedBucketSize: 2 },
  timelineDaysMax: keptMs / 86_400_000,
})

/** Queues the job that removes old entries, again and again. */
async function queueSweeps(signal: AbortSignal): Promise<void> {
  const { collections, periodic } = harness.services
  while (!signal.aborted) {
    await collections.meta.deleteOne({ _id: 'timelines.sweep' })
    await periodic.queueDue()
    await sleep(300)
  }
}

test(
  'processes that are killed while they deliver and remove old entries leave no timeline with a gap',
  async () => {
    const { services } = harness
    const own = { FEED_MAINTAINED: maintained.join() }
    const plan = {
      ...{ audiences: [50, 200, 400], kills, pauseMs: 60 },
      // The shortest retention decides.
      variables: [
        { ...own, TIMELINE_DAYS_MAX: String(keptMs / 86_400_000) },
        { ...own, TIMELINE_DAYS_MAX: '1' },
        own,
      ],
    }
    const audience = await openAudience(harness, plan)
    const ended = new AbortController()
    const sweeps = queueSweeps(ended.signal)
    const { posts, acknowledged } = await publishUnderKills(harness, audience, plan)
    ended.abort()
    await sweeps
    await services.collections.meta.deleteOne({ _id: 'timelines.sweep' })
    await services.periodic.queueDue()
    const parked = await restAfterKills(harness)
    // On a slow machine, all posts are below the floor by now. The first pages of stored timelines
    // need newer ones.
    const [author] = audience.authors as [UserId]
    for (let n = 0; n < 6; n++) await services.posts.create(author, { text: 'new' })
    await harness.rest()

    const there = new Set(posts.map(({ id }) => id))
    expect(acknowledged.filter(({ id }) => !there.has(id))).toEqual([])
    expect(posts.length).toBeGreaterThan(kills)
    const { collections } = services
    expect(await repeatsStored(collections)).toEqual([])
    const { authors, readers } = audience
    const sample = [...authors, ...readers.filter((_, n) => n % 16 === 0)]
    const { problems, pending, served } = await comparedTimelines(services, sample, maintained)
    expect([problems, pending]).toEqual([[], []])
    // Below the floor, pages come from FANOUT_ON_READ.
    expect([...served].sort()).toEqual(['FANOUT_ON_READ', ...maintained].sort())
    const [first] = posts.map(({ id }) => id).sort()
    const oldest = await collections.inbox.countDocuments({
      '_id.post': toObjectId(first as PostId),
    })
    noteFact(`L4, retention: ${kills} kills, ${posts.length} posts, ${parked} parked`)
    expect(oldest, 'readers who still store the oldest post').toBe(0)
    expect(await collections.outbox.countDocuments()).toBe(0)
  },
  patient(600_000),
)
