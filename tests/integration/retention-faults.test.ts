import { beforeAll, expect, test } from 'vitest'
import { toObjectId } from '../../src/db/object-id.ts'
import type { Floors } from '../../src/feed/strategies/floors.ts'
import type { MaterialisedName } from '../../src/feed/strategies/list.ts'
import { type EdgeId, IdMint, type PostId } from '../../src/lib/ids.ts'
import { sameLimits } from '../support/engagement.ts'
import { failCommand, recorded } from '../support/mongo.ts'
import { handle, openAccounts, storeOf, useServices } from '../support/services.ts'

const [reader, author] = [handle('reader'), handle('author')]
const kept = 8
const engagement = sameLimits({ threshold: 3, capacity: 2 })
const maintained: MaterialisedName[] = ['INBOX']
const harness = useServices('collection', engagement, { maintained, inboxEntriesMax: kept })

const registrationOf = async (name: MaterialisedName) => {
  const registration = (await harness.services.registry.read()).get(name)
  if (!registration) throw new Error(`${name} is not registered`)
  return registration
}
const inboxFloors = () => harness.services.strategies.INBOX.floors as Floors
const newPost = () => {
  return { id: new IdMint(harness.clock.now).next<PostId>(), author }
}
const count = () => harness.services.collections.inbox.countDocuments({ '_id.reader': reader })

beforeAll(async () => {
  const { edges, transactions } = harness.services
  await openAccounts(harness.services, [reader, author])
  const edge = { follower: reader, followee: author, source: 'FEEDLINE' as const }
  const id = new IdMint(harness.clock.now).next<EdgeId>()
  await transactions.run((tx) => edges.insert(tx, [{ id, ...edge }]))
})

test('a trim that fails does not fail its delivery, and a later one repeats it', async () => {
  const store = await storeOf(harness.services, 'INBOX')
  for (let n = 0; n < kept; n++) await store.deliver(newPost(), [reader])
  {
    const failure = { failCommands: ['aggregate'], errorCode: 2 }
    await using _failpoint = await failCommand(harness.database.client, failure)
    await store.deliver(newPost(), [reader])
  }
  expect(await count()).toBe(kept + 1)
  await store.deliver(newPost(), [reader])
  expect(await count()).toBe(kept)
})

test('a trim of a large timeline removes at most 2,500 entries in a transaction', async () => {
  const { inbox } = harness.services.collections
  const mint = new IdMint(() => harness.clock.now() - 1_000_000)
  const old = Array.from({ length: 6_000 }, () => ({
    _id: { reader, post: toObjectId(mint.next<PostId>()) },
  }))
  await inbox.insertMany(old as never[])
  const registration = await registrationOf('INBOX')
  const { commands } = await recorded(harness.database.client, () =>
    inboxFloors().trim([reader], registration),
  )
  expect(commands.filter(({ name }) => name === 'commitTransaction')).toHaveLength(3)
  expect(await count()).toBe(kept)
})

test('a back-fill that was killed stops trims for an hour, and its reader stays away until one ends', async () => {
  const { inbox_floors } = harness.services.collections
  const registration = await registrationOf('INBOX')
  await inbox_floors.updateOne({ _id: reader }, { $set: { away: true } })
  await inboxFloors().beginFill([reader], registration)
  expect(await inbox_floors.findOne({ _id: reader })).toMatchObject({ away: true })
  const store = await storeOf(harness.services, 'INBOX')
  await store.deliver(newPost(), [reader])
  expect(await count()).toBe(kept + 1)
  harness.clock.advance(2 * 3_600_000)
  await inboxFloors().trim([reader], registration)
  expect(await count()).toBe(kept)
  await harness.services.backfill.refillReader(reader, new AbortController().signal)
  const ended = await inbox_floors.findOne({ _id: reader })
  expect(ended?.away).toBeUndefined()
  expect(ended?.filling).toBeUndefined()
})
