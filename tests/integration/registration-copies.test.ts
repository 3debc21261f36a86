import { setTimeout as sleep } from 'node:timers/promises'
import { ObjectId } from 'mongodb'
import { beforeEach, describe, expect, test, vi } from 'vitest'
import { copiesMark, versionsMark } from '../../src/db/marks.ts'
import { registerStrategies } from '../../src/feed/feeds.ts'
import { noteState } from '../../src/feed/registry/place.ts'
import { copyIdOf } from '../../src/feed/registry/registration-copies.ts'
import type { UserId } from '../../src/lib/ids.ts'
import type { Services } from '../../src/services.ts'
import { sameLimits } from '../support/engagement.ts'
import { type RecordedCommand, recorded } from '../support/mongo.ts'
import { commitCopiesLast } from '../support/participants.ts'
import { handle, openAccounts, servicesOver, useServices } from '../support/services.ts'

const maintained = ['INBOX', 'HYBRID', 'CACHE'] as const
const harness = useServices('collection', undefined, { maintained })
const [ann, ben] = [handle('ann'), handle('ben')]
const readers = Array.from({ length: 10 }, (_, n) => handle(`reader${n}`))

/** Another process. */
const process = () =>
  servicesOver(
    harness.database,
    harness.clock,
    sameLimits({ threshold: 3, capacity: 2 }),
    'collection',
    { maintained },
  )

const request = {
  window: { limit: 9, backward: false },
  projection: 'ref',
  strategy: 'INBOX',
} as const

async function page(services: Services, reader: UserId) {
  const found = await services.feed.timeline(reader, request)
  return { count: found.items.length, servedBy: found.servedBy }
}

/** The collections of registrations that commands read, also in joins. */
const registriesIn = (commands: readonly RecordedCommand[]): string[] =>
  commands
    .flatMap(({ collection, command }) => [
      collection,
      ...(command.pipeline ?? []).map(
        (stage: Record<string, { from?: string }>) => stage.$lookup?.from,
      ),
    ])
    .filter((name) => name === 'strategies' || name === 'registration_copies')

beforeEach(async () => {
  const { services, database } = harness
  // On a router no election is seen, so no read waits for the first write of a primary.
  const shared = database.client.readConcern as { afterClusterTime?: unknown }
  shared.afterClusterTime = undefined
  const { meta: _, ...collections } = services.collections
  for (const one of Object.values(collections) as { deleteMany(all: object): Promise<unknown> }[])
    await one.deleteMany({})
  await openAccounts(services, [ann, ben])
  await services.follows.follow(ben, ann)
  await services.posts.create(ann, { text: 'hello' })
  await registerStrategies(services, maintained)
  await harness.rest()
  await services.registry.read()
})

describe('the copies of the registrations', () => {
  test('equal the registrations after each change, and there are 16', async () => {
    const { registrations, collections, upkeep, transactions, configured, copies } =
      harness.services
    const { strategies, registration_copies } = collections
    const cluster = { mark: 'm', election: 'e' }
    const changes: (() => Promise<unknown>)[] = [
      () => registrations.setOption('HYBRID', 'threshold', 7),
      () => registrations.rebuild('INBOX'),
      () => transactions.run((tx) => upkeep.leaveJobs(tx, { follows: [], posts: [] }, 'LARGE')),
      () => registrations.runExclusive((tx) => noteState(collections, tx, cluster)),
      () => registrations.runExclusive((tx) => noteState(collections, tx, undefined)),
      () => registrations.drop('INBOX', AbortSignal.abort(new Error('cut'))).catch(() => {}),
      () => registrations.drop('INBOX'),
      () => registrations.register('INBOX', configured.INBOX),
    ]
    for (const change of changes) {
      const before = (await registration_copies.findOne({}))?.registrations
      await change()
      const docs = await strategies.find().sort({ _id: 1 }).toArray()
      const expected = docs.map(({ covered, complete, split, readers, ...copied }) => copied)
      const found = await registration_copies.find().toArray()
      expect(found).toHaveLength(16)
      for (const copy of found) expect(copy.registrations).toEqual(expected)
      expect(before).not.toEqual(expected)
      expect(await copies.areCurrent()).toBe(true)
    }
  })

  test('are read by their key by pages and deliveries, and not the registrations', async () => {
    const services = process()
    const { client } = harness.database
    await page(services, ben)
    const reading = await recorded(client, async () => {
      for (const reader of readers) await services.feed.timeline(reader, request)
      await services.posts.create(ann, { text: 'more' })
      await services.inline.settle()
    })
    expect(new Set(registriesIn(reading.commands))).toEqual(new Set(['registration_copies']))
    const many = Array.from({ length: 1_000 }, (_, n) => copyIdOf(`user${n}`))
    expect(new Set(many).size).toBe(16)
    const empty = await recorded(client, () => services.feed.timeline(handle('no-one'), request))
    expect(
      empty.commands.filter(({ collection }) => collection === 'registration_copies'),
    ).toMatchObject([{ command: { filter: { _id: copyIdOf('no-one') } } }])
  })

  test('are not needed: without them, a process reads the registrations', async () => {
    const services = process()
    expect((await page(services, ben)).servedBy).toBe('INBOX')
    await harness.services.collections.registration_copies.deleteMany({})
    expect(await page(services, ben)).toEqual({ count: 1, servedBy: 'INBOX' })
    const { commands } = await recorded(harness.database.client, () => page(services, ben))
    expect(commands).toHaveLength(2)
    expect(registriesIn(commands)).toEqual(['registration_copies', 'strategies'])
    await harness.services.registrations.restoreCopies()
    await page(services, ben)
    const later = await recorded(harness.database.client, () => page(services, ben))
    expect(registriesIn(later.commands)).toEqual(['registration_copies'])
  })

  test('do not exist while a process of the previous release may change registrations', async () => {
    const { meta, registration_copies, strategies, inbox } = harness.services.collections
    await meta.deleteOne({ _id: copiesMark })
    // Pages may already be kept: versions are older than copies.
    expect(await meta.findOne({ _id: versionsMark })).not.toBeNull()
    expect(await registration_copies.countDocuments()).toBe(16)
    const services = process()
    await services.registrations.restoreCopies()
    expect(await registration_copies.countDocuments()).toBe(0)
    await services.registrations.rebuild('INBOX')
    expect(await registration_copies.countDocuments()).toBe(0)
    await harness.rest()
    expect((await page(services, ben)).servedBy).toBe('INBOX')
    // A drop by the other process.
    const begin = { epoch: new ObjectId(), dropping: true, covered: '', complete: false } as const
    await strategies.updateOne({ _id: 'INBOX' }, { $set: begin })
    await inbox.deleteMany({})
    expect(await page(services, ben)).toEqual({ count: 1, servedBy: 'FANOUT_ON_READ' })
    await strategies.deleteOne({ _id: 'INBOX' })
    await meta.insertOne({ _id: copiesMark, value: 'complete' })
    await services.registrations.restoreCopies()
    expect(await registration_copies.countDocuments()).toBe(16)
  })

  test('have no progress: pages read it once a second while a back-fill runs', async () => {
    const services = process()
    await page(services, ben)
    await harness.services.registrations.rebuild('INBOX')
    await page(services, ben)
    const waiting = await recorded(harness.database.client, async () => {
      const endAt = performance.now() + 1_500
      while (performance.now() < endAt) expect((await page(services, ben)).count).toBe(1)
    })
    const reads = registriesIn(waiting.commands)
    expect(reads.filter((name) => name === 'strategies').length).toBeLessThanOrEqual(2)
    expect(reads.length).toBeGreaterThan(10)
    await harness.rest()
    const servedBy = async () => (await page(services, ben)).servedBy
    await expect.poll(servedBy, { timeout: 10_000 }).toBe('INBOX')
  })
})

describe('while the copies of a transaction are not visible yet', () => {
  const entries = () => harness.services.collections.inbox.countDocuments()
  /** A drop of INBOX whose copies are visible later. The other strategy that shares its entries is gone. */
  const dropHalf = async (mutate: (services: Services) => void = () => {}) => {
    await harness.services.registrations.drop('HYBRID')
    return commitCopiesLast(harness.database, (services) => {
      // The transactions of the removal would wait too, because they read the copies.
      const write = services.copies.write.bind(services.copies)
      const written = vi.spyOn(services.copies, 'write').mockResolvedValue()
      written.mockImplementationOnce(write)
      mutate(services)
      return services.registrations.drop('INBOX')
    })
  }

  test('a drop removes no entry, so pages of other processes have no gap', async () => {
    const services = process()
    expect(await page(services, ben)).toEqual({ count: 1, servedBy: 'INBOX' })
    const half = await dropHalf()
    await sleep(150)
    expect(await entries()).toBe(2)
    expect(await page(services, ben)).toEqual({ count: 1, servedBy: 'INBOX' })
    await half.complete()
    expect(await entries()).toBe(0)
    expect(await page(services, ben)).toEqual({ count: 1, servedBy: 'FANOUT_ON_READ' })
  })

  test('a drop that does not wait for them leaves a gap, so the test above can fail', async () => {
    const services = process()
    expect(await page(services, ben)).toEqual({ count: 1, servedBy: 'INBOX' })
    const half = await dropHalf(({ copies }) => {
      vi.spyOn(copies, 'awaitVisible').mockResolvedValue()
    })
    await expect.poll(entries, { timeout: 10_000 }).toBe(0)
    expect(await page(services, ben)).toEqual({ count: 0, servedBy: 'INBOX' })
    await half.complete()
  })

  test.each([true, false])('a back-fill that waits for them: %s', async (isWaiting) => {
    const { inbox } = harness.services.collections
    const half = await commitCopiesLast(harness.database, ({ registrations }) =>
      registrations.rebuild('INBOX'),
    )
    await inbox.deleteMany({})
    const wait = vi.spyOn(harness.services.copies, 'awaitVisibleInJob')
    if (!isWaiting) wait.mockResolvedValue()
    const rest = harness.rest()
    await sleep(250)
    if (isWaiting) expect(await entries()).toBe(0)
    else await expect.poll(entries, { timeout: 10_000 }).toBe(2)
    await half.complete()
    await rest
    wait.mockRestore()
    expect(await entries()).toBe(2)
  })

  test('a delivery waits for a registration that was committed before its post', async () => {
    const { services } = harness
    await services.registrations.drop('INBOX')
    await services.registrations.drop('HYBRID')
    const half = await commitCopiesLast(harness.database, ({ registrations }) =>
      registrations.register('INBOX', {}),
    )
    await services.collections.outbox.deleteMany({ kind: 'strategy.backfill' })
    const { id } = await services.posts.create(ann, { text: 'later' })
    const rest = harness.rest()
    await sleep(150)
    expect(await entries()).toBe(0)
    await half.complete()
    await rest
    const stored = await services.collections.inbox.find().toArray()
    expect(stored.map(({ _id }) => [_id.reader, _id.post.toHexString()])).toEqual([
      ['ann', id],
      ['ben', id],
    ])
  })
})
