import { beforeAll, describe, expect, test } from 'vitest'
import { toObjectId } from '../../src/db/object-id.ts'
import type { PostId, UserId } from '../../src/lib/ids.ts'
import { sameLimits } from '../support/engagement.ts'
import { recorded } from '../support/mongo.ts'
import { handle, openAccounts, storeOf, useServices } from '../support/services.ts'

const [reader, author, fresh] = [handle('reader'), handle('author'), handle('fresh')]
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

    const away = async () => {
      const found = await harness.services.collections[floors].find({ away: true }).toArray()
      return found.map(({ _id }) => _id).sort()
    }

    test('an account that was created later than readers may be away keeps its timeline', async () => {
      const { services, clock } = harness
      clock.advance(4 * dayMs)
      await services.users.create(fresh, { name: 'fresh' })
      clock.advance(5 * dayMs)
      await sweep()
      expect(await away()).toEqual([author, reader])
      clock.advance(4 * dayMs)
      await sweep()
      expect(await away()).toEqual([author, fresh, reader])
    })

    test('a rebuild does not end the absence of readers whose visits are known', async () => {
      const { services, clock } = harness
      await services.registrations.rebuild(name)
      await harness.rest()
      clock.advance(0.9 * dayMs)
      await services.collections.meta.deleteOne({ _id: 'timelines.sweep' })
      await sweep()
      // Active readers have an eighth of the time in which the new timelines note their visits.
      expect(await away()).toEqual([])
      clock.advance(1.1 * dayMs)
      await sweep()
      expect(await away()).toEqual([reader])
    })
  },
)

describe('a sweep of many readers', () => {
  const harness = useServices('collection', engagement, {
    ...{ maintained: ['INBOX'], timelineAwayDays: 8 },
  })
  const readers = Array.from({ length: 2_100 }, (_, n) => handle(`reader-${n}`))

  beforeAll(async () => {
    await openAccounts(harness.services, readers)
    await harness.rest()
  })

  test('is split by ranges, and drops the absent readers of all of them', async () => {
    const { services, clock } = harness
    const { outbox, inbox_floors } = services.collections
    const absent = readers.filter((_, n) => n % 300 === 0)
    clock.advance(20 * 86_400_000)
    const token = toObjectId(services.mint.next<PostId>())
    const visitedAt = new Date(clock.now())
    await inbox_floors.insertMany(
      readers.filter((one) => !absent.includes(one)).map((_id) => ({ _id, token, visitedAt })),
    )
    await services.sweep.enqueueDaily()
    const [job] = await services.queue.claim(30_000)
    if (job?.kind !== 'timelines.sweep') throw new Error('the sweep is not due')
    const save = async (checkpoint: unknown, tx?: object) => {
      await services.queue.save(job, checkpoint, tx as never)
    }
    const { signal } = new AbortController()
    const run = { job, checkpoint: undefined, save, signal, inline: false }
    await services.tasks[job.kind]?.(job.payload, run)
    await services.queue.release(job)
    expect(await outbox.countDocuments({ kind: 'timelines.sweep.range' })).toBeGreaterThan(8)
    await harness.rest()
    const away = await inbox_floors.find({ away: true }).sort({ _id: 1 }).toArray()
    expect(away.map(({ _id }) => _id)).toEqual([...absent].sort())
  })

  test('saves its checkpoint after at most 100 readers', async () => {
    const saved: string[] = []
    const save = async (checkpoint: unknown) => {
      saved.push((checkpoint as { after: string }).after)
    }
    const { signal } = new AbortController()
    const run = { job: {} as never, checkpoint: undefined, save, signal, inline: false }
    await harness.services.sweep.dropAway(run, { after: '' })
    const ordered = [...readers].sort()
    const places = saved.map((after) => ordered.indexOf(after as UserId))
    expect(places.length).toBeGreaterThan(1)
    const sizes = places.map((place, step) => place - (places[step - 1] ?? -1))
    expect(Math.max(...sizes)).toBeLessThanOrEqual(100)
  })
})
