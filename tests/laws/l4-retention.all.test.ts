import { expect, test } from 'vitest'
import { lowestId } from '../../src/db/object-id.ts'
import type { MaterialisedName } from '../../src/feed/strategies/list.ts'
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
// More than a page of the comparison, so that the newest page never goes below the floor.
const kept = 4
const harness = useServices('collection', undefined, {
  ...{ maintained, timeBucketDays: 1 / 86_400, sizedBucketSize: 2 },
  ...{ inboxEntriesMax: kept, timeBucketEntriesMax: kept, sizedBucketEntriesMax: kept },
})

test(
  'processes that are killed while they deliver and trim leave no timeline with a gap',
  async () => {
    const { services } = harness
    const own = { FEED_MAINTAINED: maintained.join() }
    const plan = {
      ...{ audiences: [50, 200, 400], kills, pauseMs: 60 },
      // All processes follow the retention of the registrations.
      variables: [
        { ...own, INBOX_ENTRIES_MAX: '1', SIZED_BUCKET_ENTRIES_MAX: '1' },
        { ...own, INBOX_ENTRIES_MAX: '1000', TIMELINE_AWAY_DAYS: '1' },
        own,
      ],
    }
    const audience = await openAudience(harness, plan)
    const { posts, acknowledged } = await publishUnderKills(harness, audience, plan)
    const parked = await restAfterKills(harness)

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
    const trimmed = await collections.inbox_floors.countDocuments({ floor: { $gt: lowestId } })
    const summary = `${posts.length} posts, ${trimmed} inboxes trimmed, ${parked} parked`
    noteFact(`L4, retention: ${kills} kills, ${summary}`)
    expect(trimmed).toBeGreaterThan(0)
    expect(await collections.outbox.countDocuments()).toBe(0)
  },
  patient(600_000),
)
