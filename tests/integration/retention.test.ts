import { beforeAll, describe, expect, test } from 'vitest'
import { toObjectId } from '../../src/db/object-id.ts'
import { type EdgeId, IdMint, type PostId } from '../../src/lib/ids.ts'
import type { Services } from '../../src/services.ts'
import { floorOf } from '../../src/timeline/strategies/floor.ts'
import { descriptors, type MaterialisedName } from '../../src/timeline/strategies/list.ts'
import { sweepNow } from '../laws/model/setting.ts'
import { labelsOf } from '../support/commands.ts'
import { sameLimits } from '../support/engagement.ts'
import { examinedFor } from '../support/examined.ts'
import { effects, Killed, killedAtWrite } from '../support/faulty.ts'
import { openFollowedAuthor } from '../support/followed-author.ts'
import { recorded } from '../support/mongo.ts'
import { factsReads } from '../support/page-commands.ts'
import { handle, openAccounts, servicesOver, storeOf, useServices } from '../support/services.ts'
import { verified } from '../support/verify.ts'

const [reader, author] = [handle('reader'), handle('author')]
const engagement = sameLimits({ threshold: 3, capacity: 2 })
const [posts, stepMs] = [40, 10_000]
/** Stored timelines keep about eight posts. */
const keptDays = (8 * stepMs) / 86_400_000
const feed = {
  maintained: ['INBOX', 'TIME_BUCKETS', 'SIZED_BUCKETS'] as MaterialisedName[],
  ...{ timeBucketDays: stepMs / 86_400_000, sizedBucketSize: 4, timelineDaysMax: keptDays },
}

/** The entries below the floor that stay, because the strategy removes whole documents. */
const stores = {
  INBOX: { entries: 'inbox', more: 0 },
  TIME_BUCKETS: { entries: 'timed_buckets', more: 1 },
  SIZED_BUCKETS: { entries: 'sized_buckets', more: 7 },
} as const

describe.each(Object.keys(stores) as (keyof typeof stores)[])('%s that keeps 80 s', (name) => {
  const harness = useServices('collection', engagement, feed)
  const { entries, more } = stores[name]
  let ids: PostId[]

  beforeAll(async () => {
    const { services, clock } = harness
    const { collections, edges, transactions } = services
    const mint = new IdMint(clock.now)
    await openAccounts(services, [reader, author])
    const edge = { follower: reader, followee: author, source: 'FEEDLINE' as const }
    await transactions.run((tx) => edges.insert(tx, [{ id: mint.next<EdgeId>(), ...edge }]))
    const store = await storeOf(services, name)
    ids = []
    for (let n = 0; n < posts; n++) {
      clock.advance(stepMs)
      const id = mint.next<PostId>()
      ids.unshift(id)
      await collections.posts.insertOne({ _id: toObjectId(id), author, text: '' })
      await store.deliver({ id, author }, [reader])
    }
    await services.periodic.queueDue()
    await harness.rest()
    await services.registry.read()
  })

  const floor = async () => {
    const registration = (await harness.services.registry.read()).get(name)
    return (registration && floorOf(registration)) ?? ''
  }

  const storedCount = async () => {
    const { collections } = harness.services
    const docs = await collections[entries].find({} as object).toArray()
    return docs.reduce((sum, doc) => sum + ('entries' in doc ? doc.entries.length : 1), 0)
  }

  const page = (window: { limit: number; after?: PostId; before?: PostId; backward?: boolean }) =>
    harness.services.feed.timeline(reader, {
      window: { backward: false, ...window },
      strategy: name,
      projection: 'ref',
    })

  const registrationOf = async () => {
    const registration = (await harness.services.registry.read()).get(name)
    if (!registration) throw new Error('not registered')
    return registration
  }

  test('the daily job leaves the entries from the floor on, in whole documents', async () => {
    const from = await floor()
    const kept = ids.filter((id) => id >= from).length
    expect(kept).toBeGreaterThan(0)
    expect(kept).toBeLessThan(posts / 2)
    const count = await storedCount()
    expect(count).toBeGreaterThanOrEqual(kept)
    expect(count).toBeLessThanOrEqual(kept + more)
    await harness.services.periodic.queueDue()
    expect(await harness.services.collections.outbox.countDocuments()).toBe(0)
  })

  test('a walk across the floor gives every post once, in both directions', async () => {
    for (const backward of [false, true]) {
      const walked: PostId[] = []
      for (let cursor: PostId | undefined; ; ) {
        const { items } = await page({
          limit: 3,
          backward,
          [backward ? 'before' : 'after']: cursor,
        })
        const next = items.map(({ post }) => post.id)
        walked.push(...(backward ? next.toReversed() : next))
        if (next.length < 3) break
        cursor = backward ? next[0] : next.at(-1)
      }
      expect(walked).toEqual(backward ? ids.toReversed() : ids)
    }
  })

  test('a page above the floor costs two commands, and FANOUT_ON_READ serves below it', async () => {
    const { client } = harness.database
    for (let times = 0; times < 2; times++) await page({ limit: 3 })
    const { commands, result } = await recorded(client, () => page({ limit: 3 }))
    expect(labelsOf(commands)).toEqual([`read ${entries}`, ...factsReads.withoutCounts].sort())
    expect(result).toMatchObject({ servedBy: name, items: ids.slice(0, 3).map((at) => ({ at })) })
    const below = await page({ limit: 5, after: ids[20] as PostId })
    expect(below.servedBy).toBe('FANOUT_ON_READ')
  })

  test('a late delivery and the back-fill of a new followee store nothing below the floor', async () => {
    const store = await storeOf(harness.services, name)
    const before = await storedCount()
    const old = ids[30] as PostId
    await store.deliver({ id: old, author }, [reader])
    const segment = { entries: [{ id: old, author }], newest: true, oldest: true }
    expect(await store.merge(reader, segment)).toBe(false)
    expect(await storedCount()).toBe(before)
  })

  test('a page that began before the floor rose is read again', async () => {
    const { services, clock } = harness
    const all = await services.feed.timeline(reader, {
      ...{ window: { limit: 100, backward: false }, strategy: 'FANOUT_ON_READ', projection: 'ref' },
    })
    const stored = services.strategies[name]
    const propose = stored.proposeCandidates.bind(stored)
    let reads = 0
    stored.proposeCandidates = async (query) => {
      reads++
      if (reads === 1) {
        clock.advance(2 * stepMs)
        await sweepNow(services)
      }
      return propose(query)
    }
    const { items } = await page({ limit: 100 })
    Object.assign(stored, { proposeCandidates: propose })
    expect(reads).toBeGreaterThan(1)
    expect(items.map(({ post }) => post.id)).toEqual(all.items.map(({ post }) => post.id))
  })

  test('verify knows floors: a lost post above the floor is missing, and one below it is not', async () => {
    const { services } = harness
    const store = await storeOf(services, name)
    const differences = async () => {
      const report = await verified(services)
      return report.differences.flatMap(({ kind, subject }) =>
        subject === `${reader} ${name}` ? [`${kind} ${subject}`] : [],
      )
    }
    expect(await differences()).toEqual([])
    const { items } = await page({ limit: 2 })
    await store.remove([reader], [ids[35] as PostId, items[1]?.at as PostId])
    expect(await differences()).toEqual([`missing ${reader} ${name}`])
    await services.backfill.refillReader(reader, new AbortController().signal)
    expect(await differences()).toEqual([])
  })

  test('a sweep reads only old documents, and nothing if there are none', async () => {
    const { services, database } = harness
    const registration = await registrationOf()
    const strategy = services.strategies[name]
    const all = ids.map((id) => ({ id, author }))
    for (const other of ['ann', 'sue', 'zoe'].map(handle)) {
      const segment = { entries: all, newest: true, oldest: true }
      await strategy.merge(other, segment, registration)
    }
    const old = all.slice(-5)
    await strategy.merge(reader, { entries: old, newest: true, oldest: true }, registration)
    const examined: number[] = []
    for (let times = 0; times < 2; times++) {
      const { commands } = await recorded(database.client, () => sweepNow(services))
      const reads = commands.filter(
        ({ name: verb, collection }) => verb === 'aggregate' && collection === entries,
      )
      for (const read of reads) examined.push((await examinedFor(database.db, read)).docs)
    }
    expect(examined.length).toBeGreaterThan(1)
    expect(Math.max(...examined)).toBeLessThanOrEqual(old.length)
  })

  test('a rebuild stores what is kept, and nothing more', async () => {
    const { services } = harness
    const { registrations } = services
    await (await storeOf(services, name)).deleteReader(reader)
    await registrations.rebuild(name)
    expect(await floor()).toBe('')
    await harness.rest()
    const from = await floor()
    expect(from).not.toBe('')
    const ofReader = descriptors[name].storedForm.ofReader(reader)
    const own = await services.collections[entries].find(ofReader as object).toArray()
    expect(JSON.stringify(own)).toContain(ids[0])
    expect(JSON.stringify(own)).not.toContain(ids.at(-1))
    const { items } = await page({ limit: 3 })
    expect(items.map(({ post }) => post.id)).toEqual(ids.slice(0, 3))
  })
})

describe('several processes', () => {
  const harness = useServices('collection', engagement, { ...feed, maintained: ['INBOX'] })
  const mint = new IdMint(() => harness.clock.now())
  let ids: PostId[] = []
  const stored = () => harness.services.collections.inbox.countDocuments({ '_id.reader': reader })

  /** Another process, which has read nothing of the database yet. */
  const open = (timelineDaysMax: number, aheadMs = 0): Services => {
    const clock = { ...harness.clock, now: () => harness.clock.now() + aheadMs }
    const own = { ...feed, maintained: ['INBOX' as const], timelineDaysMax }
    return servicesOver(harness.database, clock, engagement, 'collection', own)
  }

  async function publish(count: number): Promise<void> {
    const store = await storeOf(harness.services, 'INBOX')
    for (let n = 0; n < count; n++) {
      harness.clock.advance(stepMs)
      const id = mint.next<PostId>()
      ids.unshift(id)
      await harness.services.collections.posts.insertOne({
        ...{ _id: toObjectId(id), author, text: '' },
      })
      await store.deliver({ id, author }, [reader])
    }
  }

  const pageOf = async (services: Services) => {
    const window = { limit: 100, backward: false }
    const { items } = await services.feed.timeline(reader, {
      ...{ window, strategy: 'INBOX', projection: 'ref' },
    })
    return items.map(({ post }) => post.id)
  }

  beforeAll(async () => {
    await openFollowedAuthor(harness, author, [reader])
    await harness.services.registry.read()
    ids = []
    await publish(20)
  })

  test('the shortest retention decides, and every process shows all posts', async () => {
    await publish(10)
    const before = await stored()
    await sweepNow(open(0))
    await sweepNow(open(1))
    const { floor } = (await harness.services.collections.strategies.findOne({})) ?? {}
    expect(await stored()).toBe(before)
    await sweepNow(open(keptDays))
    expect(await stored()).toBeLessThan(before)
    await sweepNow(open(1))
    const after = await harness.services.collections.strategies.findOne({})
    expect(after?.floor?.equals(floor ?? '')).toBe(false)
    for (const days of [0, keptDays, 1]) expect(await pageOf(open(days))).toEqual(ids)
  })

  test('a process whose clock is an hour ahead removes entries too early, and no page lacks a post', async () => {
    const early = open(keptDays)
    expect(await pageOf(early)).toEqual(ids)
    await sweepNow(open(keptDays, 3_600_000))
    expect(await stored()).toBe(0)
    // Posts of the present are below the floor, so they are not stored until the clocks have passed
    // it.
    await publish(2)
    expect(await stored()).toBe(0)
    for (const services of [early, open(keptDays), open(0)])
      expect(await pageOf(services)).toEqual(ids)
    harness.clock.advance(3_600_000)
    await publish(3)
    expect(await stored()).toBe(3)
    expect(await pageOf(early)).toEqual(ids)
  })

  test('a sweep that another process overtook with a drop and a new registration removes nothing', async () => {
    const { services } = harness
    const late = open(keptDays)
    await harness.clock.advance(20 * stepMs)
    await sweepNow(open(keptDays))
    const read = late.registry.read.bind(late.registry)
    const then = await read()
    await services.registrations.drop('INBOX')
    await services.registrations.register('INBOX', services.configured.INBOX)
    const all = ids.map((id) => ({ id, author }))
    const store = await storeOf(services, 'INBOX')
    await store.merge(reader, { entries: all, newest: true, oldest: true })
    Object.assign(late.registry, { read: async () => then, raiseFloors: async () => {} })
    await sweepNow(late)
    expect(await stored()).toBe(ids.length)
    await harness.rest()
    expect(await pageOf(open(keptDays))).toEqual(ids)
  })
})

describe('a sweep that is killed at any of its writes', () => {
  const harness = useServices('collection', engagement, { ...feed, maintained: ['INBOX'] })
  const mint = new IdMint(() => harness.clock.now())
  const post = async () => {
    harness.clock.advance(stepMs)
    const id = mint.next<PostId>()
    await harness.services.collections.posts.insertOne({ _id: toObjectId(id), author, text: '' })
    await (await storeOf(harness.services, 'INBOX')).deliver({ id, author }, [reader])
  }

  /** Sweeps by processes that die at each write. Then counts the pages of INBOX with gaps. */
  async function countGaps(mutate: (services: Services) => void): Promise<number> {
    const { services, database, clock } = harness
    const { client } = database
    let gaps = 0
    for (const [at, effect] of [0, 1, 2].flatMap((n) => effects.map((how) => [n, how] as const))) {
      for (let n = 0; n < 3; n++) await post()
      const { db, ended } = killedAtWrite(database.db, at, effect)
      const own = { ...feed, maintained: ['INBOX' as const] }
      const other = servicesOver({ client, db }, clock, engagement, 'collection', own)
      mutate(other)
      await sweepNow(other).catch((error) => {
        if (!(error instanceof Killed)) throw error
      })
      await ended()
      const read = async (strategy: 'INBOX' | 'FANOUT_ON_READ') => {
        const window = { limit: 100, backward: false }
        const page = await services.feed.timeline(reader, { window, strategy, projection: 'ref' })
        return page.items.map(({ post }) => post.id)
      }
      if ((await read('INBOX')).join() !== (await read('FANOUT_ON_READ')).join()) gaps++
    }
    return gaps
  }

  beforeAll(async () => {
    await openFollowedAuthor(harness, author, [reader])
    for (let n = 0; n < 12; n++) await post()
  })

  test('leaves no page with a gap', async () => {
    expect(await countGaps(() => {})).toBe(0)
  })

  test('leaves a gap if it removes entries above the floor', async () => {
    const gaps = await countGaps(({ sweep, collections }) => {
      const third = async () => {
        const newest = collections.inbox.find({ '_id.reader': reader }).sort({ _id: -1 })
        const [, , doc] = await newest.toArray()
        if (doc) await collections.inbox.deleteOne({ _id: doc._id })
        return false
      }
      Object.assign(sweep, { removeBelowFloor: third })
    })
    expect(gaps).toBeGreaterThan(0)
  })
})

describe('a sweep of many readers', () => {
  const harness = useServices('collection', engagement, {
    ...{ maintained: ['INBOX'], timelineDaysMax: 1 },
  })
  const readers = Array.from({ length: 2_100 }, (_, n) => handle(`reader-${n}`))

  beforeAll(async () => {
    await openAccounts(harness.services, readers)
    await harness.rest()
  })

  test('is split by ranges, and removes the old entries of all of them, 100 of a reader at a time', async () => {
    const { services, clock, database } = harness
    const { outbox, inbox } = services.collections
    const mint = new IdMint(clock.now)
    const docs = readers
      .filter((_, n) => n % 300 === 0)
      .flatMap((one) =>
        Array.from({ length: 250 }, () => ({
          _id: { reader: one, post: toObjectId(mint.next<PostId>()) },
        })),
      )
    await inbox.insertMany(docs)
    clock.advance(2 * 86_400_000)
    await services.periodic.queueDue()
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
    const { commands } = await recorded(database.client, () => harness.rest())
    expect(await inbox.countDocuments()).toBe(0)
    const deletions = commands.filter(({ name, collection }) => {
      return name === 'delete' && collection === 'inbox'
    })
    expect(deletions.length).toBeGreaterThanOrEqual(3 * 7)
  })

  test('saves its checkpoint after at most 50 readers', async () => {
    const saved: string[] = []
    const save = async (checkpoint: unknown) => {
      saved.push((checkpoint as { after: string }).after)
    }
    const { signal } = new AbortController()
    const run = { job: {} as never, checkpoint: undefined, save, signal, inline: false }
    await harness.services.sweep.removeOld(run, { after: '' })
    const ordered = [...readers].sort() as string[]
    const places = saved.map((after) => ordered.indexOf(after))
    expect(places.length).toBeGreaterThan(1)
    const sizes = places.map((place, step) => place - (places[step - 1] ?? -1))
    expect(Math.max(...sizes)).toBeLessThanOrEqual(50)
  })
})
