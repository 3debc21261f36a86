import { Db } from 'mongodb'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { moveTimelines } from '../../src/cli/timelines-move.ts'
import { timelineCollectionNames } from '../../src/db/collections.ts'
import { TimelinesCluster } from '../../src/db/timelines-cluster.ts'
import { readConfig } from '../../src/environment.ts'
import { placeId, placesIn } from '../../src/feed/registry/place.ts'
import { materialisedNames } from '../../src/feed/strategies/list.ts'
import type { PostId, UserId } from '../../src/lib/ids.ts'
import { openDatabase } from '../../src/open-database.ts'
import type { Services } from '../../src/services.ts'
import { runCommand } from '../support/command-line.ts'
import { joblessRun } from '../support/jobless-run.ts'
import { useSeparateTimelines } from '../support/separate-timelines.ts'
import { drain, handle, openAccounts, servicesOver } from '../support/services.ts'
import { type TimelinesSet, timelinesSet } from '../support/timelines-set.ts'

const feed = { maintained: ['FANOUT_ON_READ' as const, ...materialisedNames], cacheSize: 4 }
const first = useSeparateTimelines(feed)
let second: TimelinesSet
const [reader, author] = [handle('reader'), handle('author')] as [UserId, UserId]
const posts: PostId[] = []

beforeAll(async () => {
  second = await timelinesSet()
  await openAccounts(first.services, [reader, author])
  await first.services.follows.follow(reader, author)
  await publish(first.services)
  await first.rest()
})
afterAll(() => second[Symbol.asyncDispose]())

const publish = async (by: Services) => {
  posts.unshift((await by.posts.create(author, { text: 'hello' })).id)
}

const env = (uri?: string) => ({
  MONGODB_URI: first.database.uri,
  MONGODB_DATABASE: first.database.name,
  ...(uri ? { TIMELINES_URI: uri } : {}),
})
const move = (uri?: string) => runCommand(['timelines', 'move'], env(uri))

/** A process that moves timelines, in single tries. */
async function openMove(uri?: string) {
  const config = readConfig(env(uri))
  const options = { profile: 'bulk', prepare: true, anyTimelines: true, log: () => {} } as const
  const opened = await openDatabase(config, options)
  return { ...opened, move: () => moveTimelines(config, opened) }
}

/** Which strategies serve the reader's pages in a process. Each page must have all posts. */
async function servedBy(by: Services): Promise<string[]> {
  const found: string[] = []
  for (const strategy of materialisedNames) {
    const window = { limit: 50, backward: false }
    const read = () =>
      by.feed.timeline(reader, { window, projection: 'ref', strategy, pending: true })
    // The first page may show other registrations to the second one.
    const pages = [await read(), await read()]
    for (const { items, pending } of pages)
      if (!pending)
        expect(
          items.map(({ id }) => id),
          strategy,
        ).toEqual(posts)
    found.push(pages[1]?.servedBy ?? '')
  }
  return [...new Set(found)].sort()
}

const stored = [...materialisedNames].sort()
const jobs = () => first.services.collections.outbox.find().toArray()
const registrations = () => first.services.collections.strategies.find().toArray()

test('timelines move to another cluster while processes with the old one and the new one are live', async () => {
  const old = first.services
  expect(await servedBy(old)).toEqual(stored)
  const { code, stdout } = await move(second.uri)
  expect([code, stdout]).toEqual([0, expect.stringContaining('127.0.0.1')])
  await publish(old)
  // The old process ends no delivery, because its cluster does not count any more.
  expect(await servedBy(old)).toEqual(['FANOUT_ON_READ'])
  const waiting = await jobs()
  for (const { kind, payload } of waiting) {
    const outcome = await old.tasks[kind]?.(payload, joblessRun())
    expect([kind, outcome]).toEqual([kind, { continuesInMs: expect.any(Number) }])
  }
  expect(waiting.map(({ kind }) => kind)).toContain('post.created')
  expect(await jobs()).toHaveLength(waiting.length)
  const refused = await first.process().catch((error: Error) => error.message)
  expect(refused).toContain('TIMELINES_URI: this database stores its timelines on')
  const next = await first.process(second.uri)
  await publish(next)
  await drain(next)
  expect(await servedBy(next)).toEqual(stored)
  expect(await servedBy(old)).toEqual(['FANOUT_ON_READ'])
})

test('timelines move refuses a cluster with timelines of another database, and changes nothing', async () => {
  const { client } = first.database
  const marks = first.cluster.db.collection<{ _id: string; owner: string }>('timeline_marks')
  const before = await registrations()
  const mark = await marks.findOneAndUpdate({ _id: 'cluster' }, { $set: { owner: 'another' } })
  const { code, stderr } = await move(first.set.uri)
  expect([code, stderr]).toEqual([
    1,
    'feedline: invalid configuration: TIMELINES_URI: the cluster holds timelines of another database\n',
  ])
  const own = await move(client.options.hosts.map((host) => `mongodb://${host}`)[0])
  expect([own.code, own.stderr]).toEqual([1, expect.stringContaining('it names the deployment of')])
  expect(await registrations()).toEqual(before)
  await marks.updateOne({ _id: 'cluster' }, { $set: { owner: mark?.owner ?? '' } })
})

test('timelines move without TIMELINES_URI stores timelines in the database, and a repeat changes nothing', async () => {
  const { database, clock } = first
  expect((await move()).stdout).toContain('are stored on this database')
  const db = servicesOver(database, clock, first.engagement, 'collection', feed)
  await publish(db)
  expect(await servedBy(db)).toEqual(['FANOUT_ON_READ'])
  await drain(db)
  expect(await servedBy(db)).toEqual(stored)
  expect(await servedBy(first.services)).toEqual(['FANOUT_ON_READ'])
  const before = await registrations()
  expect((await move()).stdout).toBe('The timelines are stored in this database already.\n')
  expect(await registrations()).toEqual(before)
  await expect(first.process(second.uri)).rejects.toThrow(
    'this database stores its timelines itself',
  )
})

test('timelines move from the database to a cluster deletes the timelines of the database', async () => {
  expect(await move(second.uri)).toMatchObject({ code: 0, stderr: '' })
  const left = await first.database.db.listCollections({}, { nameOnly: true }).toArray()
  const names: readonly string[] = timelineCollectionNames
  expect(left.filter(({ name }) => names.includes(name))).toEqual([])
  const next = await first.process(second.uri)
  await drain(next)
  expect(await servedBy(next)).toEqual(stored)
})

test('timelines move onto the same cluster waits for a process that prepares it, and ends if a server finds the new mark first', async () => {
  const server = await first.process(second.uri)
  const places = placesIn(server.collections)
  const before = await places.findOneAndUpdate(
    { _id: placeId },
    { $set: { preparing: { mark: 'other', until: new Date(Date.now() + 1_000) } } },
  )
  const begin = TimelinesCluster.prototype.begin
  const spy = vi.spyOn(TimelinesCluster.prototype, 'begin').mockImplementationOnce(async function (
    this: TimelinesCluster,
    ...given
  ) {
    await begin.apply(this, given)
    await expect
      .poll(async () => {
        await server.clusterRepair.run()
        return (await places.findOne({ _id: placeId }))?.value
      })
      .not.toBe(before?.value)
  })
  expect(await move(second.uri)).toMatchObject({ code: 0, stderr: '' })
  expect(spy).toHaveBeenCalledTimes(1)
  spy.mockRestore()
  await server.clusterRepair.settle()
  await drain(server)
  expect(await servedBy(server)).toEqual(stored)
})

test('a move that is killed after any deletion on its cluster can be repeated', async () => {
  await move(second.uri)
  await drain(await first.process(second.uri))
  await move()
  await using next = await openMove(second.uri)
  const { command } = Db.prototype
  let killed = 0
  const spy = vi.spyOn(Db.prototype, 'command')
  const tryMove = () => {
    let drops = 0
    spy.mockImplementation(async function (this: Db, ...given) {
      if ('drop' in given[0] && this.client !== next.client && ++drops > 1) {
        killed++
        throw new Error('killed')
      }
      return command.apply(this, given)
    })
    return next.move().catch((error: Error) => error.message)
  }
  let outcome = await tryMove()
  while (outcome === 'killed') outcome = await tryMove()
  const moved = { where: expect.stringContaining('127.0.0.1') }
  expect(outcome).toEqual(moved)
  expect(killed).toBeGreaterThan(2)
  spy.mockRestore()
  const steps = vi.spyOn(TimelinesCluster.prototype, 'createCollections')
  const { cluster } = next
  const writeLate = async () => {
    const marks = cluster?.db.collection<{ _id: string }>('timeline_marks')
    await marks?.insertOne({ _id: 'reader:late' })
    throw new Error('killed')
  }
  // After the timelines are deleted, and after the marks are.
  const { createCollections } = TimelinesCluster.prototype
  const goOn = () => createCollections.call(cluster as TimelinesCluster)
  for (const before of [0, 1]) {
    if (before > 0) steps.mockImplementationOnce(goOn)
    steps.mockImplementationOnce(writeLate)
    await expect(next.move()).rejects.toThrow('killed')
    await move()
    expect(await next.move()).toEqual(moved)
  }
  steps.mockRestore()
  const server = await first.process(second.uri)
  await drain(server)
  expect(await servedBy(server)).toEqual(stored)
})

test('a second move onto a cluster with data is busy while another process prepares the cluster', async () => {
  await using next = await openMove(second.uri)
  const places = placesIn(first.services.collections)
  const marks = next.cluster?.db.collection<{ _id: string }>('timeline_marks')
  const mark = await marks?.findOneAndDelete({ _id: 'cluster' })
  const preparing = { mark: 'other', until: new Date(Date.now() + 10_000) }
  await places.updateOne({ _id: placeId }, { $set: { preparing } })
  expect(await next.move()).toBe('busy')
  await places.updateOne({ _id: placeId }, { $unset: { preparing: '' } })
  await marks?.insertOne(mark as { _id: string })
})

test.each([
  ['is busy while the first one works', false],
  ['moves them after the lease of the first one, which then deletes nothing', true],
])('of two moves into the database at once, the second one %s', async (_, isExpired) => {
  const { database, clock, engagement } = first
  await move(second.uri)
  // As a killed move leaves it.
  await database.db.createCollection('inbox')
  await using late = await openMove()
  await using other = await openMove()
  const here = servicesOver(database, clock, engagement, 'collection', feed)
  const outcomes: unknown[] = []
  const command = late.db.command.bind(late.db)
  vi.spyOn(late.db, 'command').mockImplementationOnce(async (...given) => {
    const expired = { $set: { 'preparing.until': new Date(0) } }
    if (isExpired) await placesIn(here.collections).updateOne({ _id: placeId }, expired)
    outcomes.push(await other.move())
    if (isExpired) await drain(here)
    return command(...given)
  })
  outcomes.push(await late.move())
  const moved = { where: 'this database' }
  expect(outcomes).toEqual(isExpired ? [moved, 'busy'] : ['busy', moved])
  expect(await late.move()).toBe('unchanged')
  await drain(here)
  expect(await servedBy(here)).toEqual(stored)
  expect(await here.collections.inbox.countDocuments()).toBe(2 * posts.length)
})

test.each([
  ['is busy while the first one works', false],
  ['moves them after the lease of the first one, which then is busy', true],
])('of two moves from the database at once, the second one %s', async (_, isExpired) => {
  const { services } = first
  await move()
  await using late = await openMove(second.uri)
  await using other = await openMove(second.uri)
  const places = placesIn(services.collections)
  const outcomes: unknown[] = []
  const begin = TimelinesCluster.prototype.begin
  vi.spyOn(TimelinesCluster.prototype, 'begin').mockImplementationOnce(async function (
    this: TimelinesCluster,
    ...given
  ) {
    const expired = { $set: { 'preparing.until': new Date(0) } }
    if (isExpired) await places.updateOne({ _id: 'timelines.first-move' }, expired)
    outcomes.push(await other.move())
    return begin.apply(this, given)
  })
  const epochs = async () => (await registrations()).map(({ epoch }) => epoch.toHexString())
  const before = await epochs()
  outcomes.push(await late.move())
  const moved = { where: expect.stringContaining('127.0.0.1') }
  expect(outcomes).toEqual(isExpired ? [moved, 'busy'] : ['busy', moved])
  expect(await epochs()).not.toEqual(before)
  expect(await places.findOne({ _id: 'timelines.first-move' })).toBeNull()
  const server = await first.process(second.uri)
  await server.clusterRepair.settle()
  await drain(server)
  expect(await servedBy(server)).toEqual(stored)
  vi.restoreAllMocks()
})
