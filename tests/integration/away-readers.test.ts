import { beforeAll, describe, expect, test } from 'vitest'
import { sameLimits } from '../support/engagement.ts'
import { recorded } from '../support/mongo.ts'
import { handle, openAccounts, storeOf, useServices } from '../support/services.ts'

const [reader, author] = [handle('reader'), handle('author')]
const engagement = sameLimits({ threshold: 3, capacity: 2 })

const stores = {
  INBOX: { entries: 'inbox', floors: 'inbox_floors' },
  TIME_BUCKETS: { entries: 'timed_buckets', floors: 'timed_bucket_floors' },
  SIZED_BUCKETS: { entries: 'sized_buckets', floors: 'sized_bucket_floors' },
} as const

describe.each(Object.keys(stores) as (keyof typeof stores)[])(
  '%s with readers who are away',
  (name) => {
    const harness = useServices('collection', engagement, {
      ...{
        maintained: [name],
        timelineAwayDays: 8,
        timeBucketDays: 1 / 86_400,
        sizedBucketSize: 4,
      },
    })
    const { entries, floors } = stores[name]
    const dayMs = 86_400_000

    beforeAll(async () => {
      const { services } = harness
      await openAccounts(services, [reader, author])
      await services.follows.follow(reader, author)
      for (let n = 0; n < 5; n++) await services.posts.create(author, { text: 'x' })
      await harness.rest()
    })

    const page = async () => {
      const window = { limit: 10, backward: false }
      const asked = { window, strategy: name, projection: 'ref' as const, pending: true }
      const { servedBy, pending, items } = await harness.services.feed.timeline(reader, asked)
      return { servedBy, pending, count: items.length }
    }

    const sweep = async () => {
      await harness.services.sweep.enqueueDaily()
      await harness.rest()
    }

    test('a page writes the visit once in an eighth of the time', async () => {
      const writes = async () => {
        const { commands } = await recorded(harness.database.client, page)
        return commands.filter(({ name: verb }) => verb === 'update').length
      }
      expect([await writes(), await writes()]).toEqual([1, 0])
      harness.clock.advance(1.1 * dayMs)
      expect([await writes(), await writes()]).toEqual([1, 0])
    })

    test('a reader who visits while the sweep runs keeps the timeline', async () => {
      const { services, clock } = harness
      const { collections } = services
      clock.advance(9 * dayMs)
      const coll = collections[floors]
      const write = coll.bulkWrite.bind(coll)
      // The sweep has found the reader absent, and is about to drop the timeline.
      coll.bulkWrite = async (...given) => {
        coll.bulkWrite = write
        expect((await page()).servedBy).toBe(name)
        return write(...given)
      }
      await sweep()
      expect(await coll.findOne({ _id: reader })).not.toHaveProperty('away')
      expect(await page()).toEqual({ servedBy: name, pending: false, count: 5 })
      // The author has made no visit.
      expect(await coll.findOne({ _id: author })).toMatchObject({ away: true })
    })

    test('a timeline is dropped, gets no deliveries, and is filled after the next visit', async () => {
      const { services, clock } = harness
      const { collections } = services
      const stored = () => collections[entries].countDocuments()
      clock.advance(7 * dayMs)
      await sweep()
      expect(await collections[floors].findOne({ _id: reader })).not.toHaveProperty('away')
      clock.advance(2 * dayMs)
      await sweep()
      expect(await collections[floors].findOne({ _id: reader })).toMatchObject({ away: true })
      expect(await stored()).toBe(0)
      const { id } = await services.posts.create(author, { text: 'x' })
      await harness.rest()
      await (await storeOf(services, name)).deliver({ id, author }, [reader])
      if (name !== 'INBOX') expect(await stored()).toBe(0)
      expect(await page()).toEqual({ servedBy: 'FANOUT_ON_READ', pending: false, count: 6 })
      await harness.rest()
      expect(await page()).toEqual({ servedBy: name, pending: false, count: 6 })
      expect(await collections[floors].findOne({ _id: reader })).not.toHaveProperty('away')
    })
  },
)
