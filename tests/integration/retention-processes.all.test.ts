import { beforeAll, expect, test } from 'vitest'
import { floorsMark } from '../../src/db/marks.ts'
import { highestId, toObjectId } from '../../src/db/object-id.ts'
import type { MaterialisedName } from '../../src/feed/strategies/list.ts'
import { type EdgeId, IdMint, type PostId } from '../../src/lib/ids.ts'
import type { Services } from '../../src/services.ts'
import { sameLimits } from '../support/engagement.ts'
import { handle, openAccounts, servicesOver, storeOf, useServices } from '../support/services.ts'

const [reader, author] = [handle('reader'), handle('author')]
const engagement = sameLimits({ threshold: 3, capacity: 2 })
const kept = 8
const maintained: MaterialisedName[] = ['INBOX']
const registered = { maintained, inboxEntriesMax: kept, timelineAwayDays: 1 }
const harness = useServices('collection', engagement, registered)
const dayMs = 86_400_000
const { signal } = new AbortController()

/** Another process, which has read nothing of the database yet. */
const open = (feed: object = registered): Services =>
  servicesOver(harness.database, harness.clock, engagement, 'collection', feed)

const stored = () => harness.services.collections.inbox.countDocuments({ '_id.reader': reader })

async function publish(services: Services, count: number): Promise<void> {
  const mint = new IdMint(harness.clock.now)
  const store = await storeOf(services, 'INBOX')
  for (let n = 0; n < count; n++) {
    const id = mint.next<PostId>()
    await services.collections.posts.insertOne({ _id: toObjectId(id), author, text: '' })
    await store.deliver({ id, author }, [reader])
  }
}

async function pageOf(services: Services, strategy: 'INBOX' | 'FANOUT_ON_READ') {
  const window = { limit: 100, backward: false }
  const { items } = await services.feed.timeline(reader, { window, strategy, projection: 'ref' })
  return items.map(({ post }) => post.id)
}

beforeAll(async () => {
  const { services, clock } = harness
  await openAccounts(services, [reader, author])
  const edge = { follower: reader, followee: author, source: 'FEEDLINE' as const }
  const id = new IdMint(clock.now).next<EdgeId>()
  await services.transactions.run((tx) => services.edges.insert(tx, [{ id, ...edge }]))
})

test('while processes of the previous release may run, nothing is left out, trimmed or dropped', async () => {
  const { meta, inbox_floors, outbox } = harness.services.collections
  await meta.deleteOne({ _id: floorsMark })
  const services = open()
  await publish(services, 3 * kept)
  await services.backfill.refillReader(reader, signal)
  expect(await stored()).toBe(3 * kept)
  harness.clock.advance(3 * dayMs)
  const registration = (await services.registry.read()).get('INBOX')
  if (!registration) throw new Error('not registered')
  const accounts = new Map([[reader, new Date(0)]])
  expect(await services.strategies.INBOX.floors?.dropAway(accounts, registration)).toBe(0)
  expect(await stored()).toBe(3 * kept)
  expect(await inbox_floors.findOne({ _id: reader, floor: { $exists: true } })).toBeNull()
  await pageOf(services, 'INBOX')
  // Otherwise the first sweep would drop readers who visit every day.
  expect(await inbox_floors.findOne({ _id: reader })).toMatchObject({ visitedAt: expect.any(Date) })
  // A sweep that ran before may have marked the reader.
  const away = { floor: highestId, token: highestId, away: true as const }
  await inbox_floors.updateOne({ _id: reader }, { $set: away }, { upsert: true })
  const fills = { kind: 'timelines.fill' }
  await pageOf(services, 'INBOX')
  expect(await outbox.countDocuments(fills)).toBe(0)
  await meta.insertOne({ _id: floorsMark, value: 'complete' })
  await pageOf(open(), 'INBOX')
  expect(await outbox.deleteMany(fills)).toMatchObject({ deletedCount: 1 })
  await inbox_floors.deleteOne({ _id: reader })
  await publish(open(), 1)
  expect(await stored()).toBe(kept)
})

test.each([
  ['keeps more', { inboxEntriesMax: 1_000, timelineAwayDays: 0 }],
  ['keeps everything', {}],
  ['keeps less', { inboxEntriesMax: 1, inboxDaysMax: 1 }],
])('a process whose own configuration %s follows the registration', async (_, own) => {
  const services = open({ maintained, ...own })
  await publish(services, kept)
  expect(await stored()).toBe(kept)
  await services.backfill.refillReader(reader, signal)
  expect(await stored()).toBe(kept)
  expect(await pageOf(services, 'INBOX')).toEqual(await pageOf(services, 'FANOUT_ON_READ'))
})
