import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { importGraph } from '../../packages/import/import-graph.ts'
import { importRelations } from '../../packages/import/import-relations.ts'
import { type ImportServices, smallImportMax } from '../../packages/import/importer.ts'
import type { UserId } from '../../src/lib/ids.ts'
import type { InboxDoc } from '../../src/timeline/collections.ts'
import { RebuildWatch } from '../../src/timeline/registry/rebuild-watch.ts'
import { comparedTimelines, holding, watchedDatabase } from '../laws/model/stored-timelines.ts'
import { runCommand } from '../support/command-line.ts'
import { sameLimits } from '../support/engagement.ts'
import { joblessRun } from '../support/jobless-run.ts'
import { recordingLog } from '../support/jobs.ts'
import { recorded } from '../support/mongo.ts'
import { feedline } from '../support/process.ts'
import { csv } from '../support/relations.ts'
import { timeOfCases } from '../support/seed.ts'
import { drain, handle, namesOf, servicesOver, useServices } from '../support/services.ts'

const engagement = sameLimits({ threshold: 3, capacity: 2 })
const maintained = ['INBOX', 'CACHE', 'TIME_BUCKETS'] as const
const feed = { maintained, cacheSize: 3 }
const harness = useServices('collection', engagement, feed)
let folder = ''
let files = 0
let scenes = 0
let people: UserId[]

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'feedline-timelines-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

/** Creates six users with posts, whose timelines every strategy stores. */
beforeEach(async () => {
  const { users, posts } = harness.services
  const scene = scenes++
  people = Array.from({ length: 6 }, (_, n) => handle(`p${scene}-${n}`))
  for (const one of people) {
    await users.create(one, { ...namesOf(one), name: one })
    await posts.create(one, { text: 'x' })
  }
  await harness.rest()
  await expectRight()
})

/**
 * A file in which each user follows the next. @param large whether its length makes the import
 * large.
 */
async function ring(large: boolean): Promise<string> {
  const file = join(folder, `${files++}.txt`)
  const edges = people.map((one, n) => `${one} ${people[(n + 1) % people.length]}`)
  const comments = '# nothing\n'.repeat(large ? smallImportMax : 0)
  await writeFile(file, `${comments}${edges.join('\n')}\n`)
  return file
}

const registrations = async () => [...(await harness.services.registry.read()).values()]
const isServed = async () => (await registrations()).every(({ complete }) => complete)
const backfills = () =>
  harness.services.collections.outbox.find({ kind: 'strategy.backfill' }).toArray()

/** Expects that after all jobs every strategy serves the same timelines as FANOUT_ON_READ. */
async function expectRight(): Promise<void> {
  await harness.rest()
  expect(await isServed()).toBe(true)
  const reading = servicesOver(harness.database, harness.clock, engagement, 'collection', feed)
  const { problems, served } = await comparedTimelines(reading, people, maintained)
  expect(problems).toEqual([])
  for (const name of maintained) expect(served).toContain(name)
}

/** Expects that every strategy serves pages, or has a job that restores it. */
async function expectRestorable(): Promise<void> {
  const restored = (await backfills()).map(({ payload }) => payload.strategy)
  for (const { _id, complete } of await registrations()) {
    if (!complete) expect(restored, `a job for ${_id}`).toContain(_id)
  }
}

async function command(...args: string[]) {
  const { uri, name } = harness.database
  const { code, stderr } = await runCommand(args, { MONGODB_URI: uri, MONGODB_DATABASE: name })
  return { code, err: stderr }
}

describe('a small import', () => {
  test('a small import of edges keeps every strategy serving, and its edges count after their jobs', async () => {
    const file = await ring(false)
    const before = await registrations()
    await importGraph(harness.services, { file, mutual: true, batchSize: 4 })
    expect(await registrations()).toEqual(before)
    const { outbox } = harness.services.collections
    expect(await outbox.countDocuments({ kind: 'follow.created', queue: 'BULK' })).toBe(12)
    await expectRight()
  })

  test('a small import of relations keeps every strategy serving', async () => {
    const [one, other] = people as [UserId, UserId]
    const relations = join(folder, `${files++}.csv`)
    await writeFile(relations, csv([`${one} ${other} 5 0 0 0 5`]))
    const before = await registrations()
    await importRelations(harness.services, { file: relations })
    expect(await registrations()).toEqual(before)
    const { outbox } = harness.services.collections
    expect(await outbox.countDocuments({ kind: 'follow.created' })).toBe(1)
    await expectRight()
  })
})

describe('a large import', () => {
  test('a large import rebuilds timelines again if they were rebuilt between two batches', async () => {
    const file = await ring(true)
    let batches = 0
    const onProgress = () => void batches++
    const { services } = harness
    const upkeep: ImportServices['upkeep'] = {
      leaveJobs: async (tx, written, size) => {
        // The jobs of earlier batches run during this batch.
        await harness.rest()
        expect(await isServed()).toBe(true)
        await services.upkeep.leaveJobs(tx, written, size)
      },
    }
    await importGraph({ ...services, upkeep }, { file, mutual: false, batchSize: 2, onProgress })
    expect(batches).toBeGreaterThan(2)
    expect(await isServed()).toBe(false)
    await expectRight()
  })

  test('a large import ends a rebuild that read timelines before a batch and would mark them as covered after it', async () => {
    const { services } = harness
    const held = holding('strategies.updateOne 1')
    const slow = servicesOver(
      watchedDatabase(harness.database, held.around),
      harness.clock,
      engagement,
    )
    let rebuilding: Promise<unknown> | undefined
    const upkeep: ImportServices['upkeep'] = {
      leaveJobs: async (...batch) => {
        const job = (await backfills()).find(({ payload }) => payload.strategy === 'INBOX')
        if (job && !rebuilding) {
          rebuilding = slow.tasks['strategy.backfill']?.(job.payload, joblessRun())
          await held.reached
        }
        await services.upkeep.leaveJobs(...batch)
      },
    }
    await importGraph(
      { ...services, upkeep },
      { file: await ring(true), mutual: false, batchSize: 3 },
    )
    expect(rebuilding).toBeDefined()
    held.go()
    await rebuilding
    expect(await isServed()).toBe(false)
    await expectRight()
  })

  test('a large import enqueues a rebuild that waits until the import ends', async () => {
    const file = await ring(true)
    await importGraph(harness.services, { file, mutual: false, batchSize: 2 })
    const waiting = await backfills()
    expect(waiting).toHaveLength(maintained.length)
    for (const { runAt } of waiting) expect(runAt.getTime()).toBeGreaterThan(Date.now() + 20_000)
    await harness.services.upkeep.beginRebuilds()
    for (const { runAt } of await backfills())
      expect(runAt.getTime()).toBeLessThan(Date.now() + 9_000)
    await drain(harness.services)
    await expectRight()
  })

  test.each([
    ['complete strategies fills the timelines of changed readers alone', true],
    ['strategies that are being filled fills all timelines', false],
  ])('a large import under %s', async (_, isComplete) => {
    const { services, database } = harness
    const { strategies, user_stats } = services.collections
    if (!isComplete) await strategies.updateMany({}, { $set: { complete: false, covered: '' } })
    const changed = people.slice(0, 3)
    const others = people.slice(3)
    const file = join(folder, `${files++}.txt`)
    const edges = changed.map((one, n) => `${one} ${others[n]}`)
    await writeFile(file, `${'# nothing\n'.repeat(smallImportMax)}${edges.join('\n')}\n`)
    await importGraph(services, { file, mutual: false, batchSize: 1 })
    const marked = await user_stats.find({ imported: { $exists: true } }).toArray()
    expect(marked.map(({ _id }) => _id)).toEqual(expect.arrayContaining(changed))
    const inbox = (await registrations()).find(({ _id }) => _id === 'INBOX')
    if (isComplete) expect(inbox?.readers).toEqual({ done: 0, total: changed.length })
    const { commands } = await recorded(database.client, () => harness.rest())
    const filled = commands.flatMap(({ name, collection, command }) =>
      name === 'insert' && collection === 'inbox'
        ? command.documents.map((doc: InboxDoc) => doc._id.reader)
        : [],
    )
    for (const one of changed) expect(filled).toContain(one)
    for (const one of others) expect(filled.includes(one)).toBe(!isComplete)
    await expectRight()
  })

  test('a large import killed at any call leaves every strategy serving, or with a job that restores it', async () => {
    const calls = holding(undefined)
    const over = (around: typeof calls.around) =>
      servicesOver(watchedDatabase(harness.database, around), harness.clock, engagement)
    const started = { mutual: false, batchSize: 3 }
    await importGraph(over(calls.around), { file: await ring(true), ...started })
    await expectRight()
    expect(calls.points.length).toBeGreaterThan(20)
    const deaths = Number(process.env.FEEDLINE_KILLS ?? 5)
    for (let n = 0; n < deaths; n++) {
      await harness.services.collections.followers.deleteMany({})
      await harness.services.collections.following.deleteMany({})
      const point = calls.points[Math.floor(((n + 0.5) * calls.points.length) / deaths)]
      const dying = holding(point)
      const loading = importGraph(over(dying.around), { file: await ring(true), ...started })
      const ended = loading.catch((error) => error)
      await Promise.race([dying.reached, ended])
      dying.go(true)
      await ended
      await expectRestorable()
      await expectRight()
    }
  })
})

describe('the command', () => {
  test.each(['load', 'import-relations'])(
    'feedline %s with a missing file changes nothing',
    async (name) => {
      const before = await registrations()
      const { code, err } = await command(name, join(folder, 'mistyped.csv'))
      expect({ code, err }).toEqual({
        code: 1,
        err: expect.stringContaining('mistyped.csv cannot be read'),
      })
      expect(await registrations()).toEqual(before)
      expect(await backfills()).toEqual([])
    },
  )

  test(
    'an import of a large file that SIGINT ends has timelines rebuilt at once',
    async () => {
      const file = join(folder, `${files++}.txt`)
      const lines = Array.from({ length: 48_000 }, (_, n) => `q${n % 150} q${(n * 7 + 1) % 149}`)
      await writeFile(file, lines.join('\n'))
      const { uri, name } = harness.database
      const load = feedline(['load', file], { MONGODB_URI: uri, MONGODB_DATABASE: name })
      const { imports } = harness.services.collections
      while (!(await imports.findOne({ path: file, position: { $gt: 0 } }))) await sleep(10)
      load.child.kill('SIGINT')
      expect(await load.ended).toBe(130)
      expect(await isServed()).toBe(false)
      for (const { runAt } of await backfills())
        expect(runAt.getTime()).toBeLessThan(Date.now() + 9_000)
      await expectRestorable()
      await expectRight()
    },
    timeOfCases(60_000),
  )
})

test('a server enqueues the missing back-fill job of a strategy, and logs it once', async () => {
  const { collections, registrations: all } = harness.services
  await collections.strategies.updateOne(
    { _id: 'INBOX' },
    { $set: { complete: false, covered: '' } },
  )
  const { log, lines } = recordingLog()
  const watch = new RebuildWatch(all, log)
  await watch.checkStrategies()
  expect((await backfills()).map(({ payload }) => payload.strategy)).toEqual(['INBOX'])
  await watch.checkStrategies()
  await watch.checkStrategies()
  expect(await backfills()).toHaveLength(1)
  const said = lines.map(({ level, msg }) => [level, msg])
  const message = (advice: string) =>
    expect.stringMatching(`^INBOX covers .*FANOUT_ON_READ.*${advice}`)
  expect(said).toEqual([
    [40, message('A new job is queued now')],
    [30, message('A job is back-filling')],
  ])
  await collections.outbox.updateMany({}, { $set: { state: 'PARKED' } })
  await watch.checkStrategies()
  expect(lines.at(-1)).toMatchObject({ level: 40, msg: message('parked: see "feedline jobs"') })
  await collections.outbox.updateMany({}, { $set: { state: 'READY' } })
  await expectRight()
})
