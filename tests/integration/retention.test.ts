import { beforeAll, describe, expect, test } from 'vitest'
import { toObjectId } from '../../src/db/object-id.ts'
import type { Floors } from '../../src/feed/strategies/floors.ts'
import type { MaterialisedName } from '../../src/feed/strategies/list.ts'
import { type EdgeId, IdMint, type PostId } from '../../src/lib/ids.ts'
import { labelsOf } from '../support/commands.ts'
import { sameLimits } from '../support/engagement.ts'
import { examinedFor } from '../support/examined.ts'
import { recorded } from '../support/mongo.ts'
import { visibilityRead } from '../support/page-commands.ts'
import { handle, openAccounts, storeOf, useServices } from '../support/services.ts'
import { verified } from '../support/verify.ts'

const [reader, author] = [handle('reader'), handle('author')]
const posts = 40
const kept = 8
const engagement = sameLimits({ threshold: 3, capacity: 2 })
const feed = {
  maintained: ['INBOX', 'TIME_BUCKETS', 'SIZED_BUCKETS'] as MaterialisedName[],
  timeBucketDays: 1 / 86_400,
  sizedBucketSize: 4,
  inboxEntriesMax: kept,
  timeBucketEntriesMax: kept,
  sizedBucketEntriesMax: kept,
}

const stores = {
  INBOX: { entries: 'inbox', floors: 'inbox_floors', most: kept },
  TIME_BUCKETS: { entries: 'timed_buckets', floors: 'timed_bucket_floors', most: kept + 1 },
  SIZED_BUCKETS: { entries: 'sized_buckets', floors: 'sized_bucket_floors', most: kept + 4 },
} as const

describe.each(Object.keys(stores) as (keyof typeof stores)[])('%s that keeps 8 entries', (name) => {
  const harness = useServices('collection', engagement, feed)
  const { entries, floors, most } = stores[name]
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
      clock.advance(1_000)
      const id = mint.next<PostId>()
      ids.unshift(id)
      await collections.posts.insertOne({ _id: toObjectId(id), author, text: '' })
      await store.deliver({ id, author }, [reader])
    }
  })

  const storedCount = async () => {
    const { collections } = harness.services
    const found = await collections[stores[name].entries].find({} as object).toArray()
    return found.reduce((sum, doc) => sum + ('entries' in doc ? doc.entries.length : 1), 0)
  }

  const page = (window: { limit: number; after?: PostId; before?: PostId; backward?: boolean }) =>
    harness.services.feed.timeline(reader, {
      window: { backward: false, ...window },
      strategy: name,
      projection: 'ref',
    })

  test('a reader’s timeline stores no more than it keeps, and whole units of its form', async () => {
    const count = await storedCount()
    expect(count).toBeGreaterThanOrEqual(kept)
    expect(count).toBeLessThanOrEqual(most)
  })

  test('a walk across the floor gives every post once, in both directions', async () => {
    for (const backward of [false, true]) {
      const found: PostId[] = []
      for (let cursor: PostId | undefined; ; ) {
        const { items } = await page({
          limit: 3,
          backward,
          [backward ? 'before' : 'after']: cursor,
        })
        const some = items.map(({ post }) => post.id)
        found.push(...(backward ? some.toReversed() : some))
        if (some.length < 3) break
        cursor = backward ? some[0] : some.at(-1)
      }
      expect(found).toEqual(backward ? ids.toReversed() : ids)
    }
  })

  test('a page above the floor costs two commands, and FANOUT_ON_READ serves below it', async () => {
    const { client } = harness.database
    const { commands, result } = await recorded(client, () => page({ limit: 5 }))
    expect(labelsOf(commands)).toEqual([`read ${floors}`, visibilityRead].sort())
    expect(result).toMatchObject({ servedBy: name, items: ids.slice(0, 5).map((at) => ({ at })) })
    const below = await page({ limit: 5, after: ids[20] as PostId })
    expect(below.servedBy).toBe('FANOUT_ON_READ')
  })

  test('a delivery whose reader has a turn costs one command more, and five with a removal', async () => {
    const { services, database, clock } = harness
    const store = await storeOf(services, name)
    const mint = new IdMint(clock.now)
    const removals = []
    for (let n = 0; n < 8; n++) {
      clock.advance(1_000)
      const entry = { id: mint.next<PostId>(), author }
      ids.unshift(entry.id)
      await services.collections.posts.insertOne({ _id: toObjectId(entry.id), author, text: '' })
      const { commands } = await recorded(database.client, () => store.deliver(entry, [reader]))
      const labels = labelsOf(commands)
      const trim = labels.slice(labels.indexOf('update versions'))
      expect(labels.filter((label) => label === `update ${floors}`).length % 2, `${trim}`).toBe(0)
      if (labels.includes(`update ${floors}`)) removals.push(labels)
    }
    expect(removals.length).toBeGreaterThan(0)
    for (const labels of removals) {
      expect(labels).toEqual(
        expect.arrayContaining([
          'commitTransaction',
          `delete ${entries}`,
          `update ${floors}`,
          `update ${floors}`,
        ]),
      )
    }
  })

  test('a late delivery and the back-fill of a new followee store nothing below the floor', async () => {
    const { services, clock } = harness
    const store = await storeOf(services, name)
    const before = await storedCount()
    const old = ids[30] as PostId
    clock.advance(120_000)
    await store.deliver({ id: old, author }, [reader])
    const segment = { entries: [{ id: old, author }], newest: true, oldest: true }
    expect(await store.merge(reader, segment)).toBe(false)
    expect(await storedCount()).toBe(before)
  })

  test('verify and reconcile know floors: a lost post above the floor is missing, and one below it is not', async () => {
    const { services } = harness
    const store = await storeOf(services, name)
    const differences = async () => {
      const found = await verified(services)
      return found.differences.flatMap(({ kind, subject }) =>
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

  test('a page and a trim read only the kept entries of one reader', async () => {
    const { services, database } = harness
    const registration = (await services.registry.read()).get(name)
    if (!registration) throw new Error('not registered')
    const strategy = services.strategies[name]
    const all = ids.map((id) => ({ id, author }))
    for (const other of ['ann', 'sue', 'zoe'].map(handle)) {
      const segment = { entries: all, newest: true, oldest: true }
      await strategy.merge(other, segment, registration)
    }
    const reads = await recorded(database.client, async () => {
      await page({ limit: 5 })
      await strategy.floors?.trim([reader], registration)
    })
    const read = reads.commands.filter(
      ({ name: verb, collection = '' }) =>
        verb === 'aggregate' && [entries, floors].includes(collection as never),
    )
    expect(read.length).toBe(2)
    for (const command of read) {
      const { docs } = await examinedFor(database.db, command)
      expect(docs).toBeLessThanOrEqual(kept + 7)
    }
  })

  test('a rebuild stores what is kept, lowers the floor again', async () => {
    const { services } = harness
    const { collections, registrations } = services
    // As if a trim had removed everything.
    const token = toObjectId(ids[0] as PostId)
    await collections[floors].updateOne(
      { _id: reader },
      { $set: { floor: toObjectId('f'.repeat(24) as PostId), token } },
    )
    expect((await page({ limit: 3 })).servedBy).toBe('FANOUT_ON_READ')
    await registrations.rebuild(name)
    await harness.rest()
    await services.registry.read()
    const { servedBy, items } = await page({ limit: 3 })
    expect({ servedBy, ids: items.map(({ post }) => post.id) }).toEqual({
      servedBy: name,
      ids: ids.slice(0, 3),
    })
    const doc = await collections[floors].findOne({ _id: reader })
    expect(doc?.token.equals(token)).toBe(false)
    expect(doc?.filling).toBeUndefined()
  })

  test('a rebuild that keeps few entries and sets no floor would leave a gap', async () => {
    const { services } = harness
    const right = services.strategies[name].floors as Floors
    const beginFill = right.beginFill.bind(right)
    Object.assign(right, {
      beginFill: async (...asked: Parameters<Floors['beginFill']>) => {
        const fill = await beginFill(...asked)
        return (
          fill && { ...fill, finish: async () => fill.finish(new Map([[reader, undefined]]), true) }
        )
      },
    })
    await (await storeOf(services, name)).deleteReader(reader)
    await services.backfill.refillReader(reader, new AbortController().signal)
    expect((await page({ limit: 100 })).items.length).toBeLessThan(ids.length)
  })
})
