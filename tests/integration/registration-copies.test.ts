import { ObjectId } from 'mongodb'
import { describe, expect, test } from 'vitest'
import { copiesMark, versionsMark } from '../../src/db/marks.ts'
import { copyIdOf } from '../../src/feed/registry/registration-copies.ts'
import { ann, ben, page, request, useCopiedRegistrations } from '../support/copied-registrations.ts'
import { type RecordedCommand, recorded } from '../support/mongo.ts'
import { handle } from '../support/services.ts'

const { harness, process } = useCopiedRegistrations()
const readers = Array.from({ length: 10 }, (_, n) => handle(`reader${n}`))

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

describe('the copies of the registrations', () => {
  test('equal the registrations after each change, and there are 16', async () => {
    const { registrations, collections, upkeep, transactions, configured, copies } =
      harness.services
    const { strategies, registration_copies } = collections
    const changes: (() => Promise<unknown>)[] = [
      () => registrations.setOption('HYBRID', 'threshold', 7),
      () => registrations.rebuild('INBOX'),
      () => transactions.run((tx) => upkeep.leaveJobs(tx, { follows: [], posts: [] }, 'LARGE')),
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
    await expect.poll(servedBy).toBe('INBOX')
  })
})
