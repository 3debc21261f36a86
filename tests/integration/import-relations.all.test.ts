import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import {
  importRelations,
  previewRelations,
  type RelationImportOptions,
} from '../../packages/import/import-relations.ts'
import { zeroCounts } from '../../packages/import/write-pairs.ts'
import { fromObjectId } from '../../src/db/object-id.ts'
import { type EdgeId, type Handle, timeOf, type UserId } from '../../src/lib/ids.ts'
import { readAccountNames } from '../support/account-names.ts'
import { persist } from '../support/eventually.ts'
import { recorded } from '../support/mongo.ts'
import { base, contradictions, csv, mixed, passedOver, written } from '../support/relations.ts'
import { sampledFollowing } from '../support/repetition.ts'
import { handle, namesOf, useServices } from '../support/services.ts'
import { verified } from '../support/verify.ts'

describe.each(sampledFollowing(1))('%s', (following) => {
  const harness = useServices(following)
  let folder = ''
  let file = ''

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'feedline-relations-'))
  })
  afterAll(() => rm(folder, { recursive: true, force: true }))
  beforeEach(async () => {
    for (const one of Object.values(harness.database.collections)) await one.deleteMany({})
    file = join(folder, 'relations.csv')
    await writeFile(file, csv(mixed))
  })

  type Options = Partial<RelationImportOptions>
  const run = async (options: Options = {}) =>
    importRelations(harness.services, { file, ...options })
  const preview = async (options: Options = {}) =>
    previewRelations(harness.services, { file, ...options })

  /**
   * All stored data, except ids by chance, fields that only conflict with deletions, runs, and
   * versions.
   */
  async function snapshot() {
    const { collections } = harness.database
    const { users, user_stats, followers, following, follow_events, imports } = collections
    const { inHandles } = await readAccountNames(collections)
    const stats = user_stats.find({}, { projection: { guard: 0, audience: 0 } }).toArray()
    const { handles, subjects } = collections
    const stored = [users, handles, subjects, followers, following, follow_events, imports]
    const read = stored.map((collection) =>
      collection.find({}, { projection: { run: 0 } }).toArray(),
    )
    return (await Promise.all([stats, ...read])).map(inHandles)
  }
  const expectSound = async () => expect((await verified(harness.services)).differences).toEqual([])
  const people = async (...names: readonly string[]) => {
    for (const name of names)
      await harness.services.users.create(handle(name), { ...namesOf(handle(name)), name })
    return names.map(handle)
  }

  test('an import of relations writes edges, their history and exact counters, as the latest event decides', async () => {
    const at = Date.UTC(2026, 0, 2)
    expect(await run({ now: () => at })).toMatchObject({
      written: { ...written, ...passedOver },
      total: { ...written, ...passedOver },
      rows: 10,
      contradictions,
      bad: { count: 0, first: [] },
      lines: { rows: 10, headings: 1, empty: 0, invalid: 0 },
    })
    const { followers, follow_events, user_stats, users } = harness.database.collections
    const { idOf, handleOf } = await readAccountNames(harness.database.collections)
    const edges = await followers.find().sort({ _id: 1 }).toArray()
    const imported = edges.map(({ _id, follower, user, source }) => {
      const since = timeOf(fromObjectId<EdgeId>(_id)).getTime() - base
      return `${handleOf(follower)}>${handleOf(user)} ${source} ${since}`
    })
    expect(imported).toEqual([
      'ann>cem FACEBOOK 3',
      'ann>bob MEDIUM 5',
      'dan>bob TWITTER 5',
      'bob>cem MEDIUM 12',
      'cem>ann TWITTER 12',
    ])
    const [bob, cem] = [idOf('bob'), idOf('cem')]
    const events = await follow_events.find({ user: bob, followee: cem }).sort({ _id: 1 })
    expect((await events.toArray()).map(({ _id, ...event }) => event)).toEqual(
      [
        { type: 'FOLLOWED', source: 'TWITTER', at: new Date(base + 4) },
        { type: 'UNFOLLOWED', source: 'TWITTER', at: new Date(base + 9) },
        { type: 'FOLLOWED', source: 'MEDIUM', at: new Date(base + 12) },
      ].map((event) => ({ user: bob, followee: cem, ...event })),
    )
    expect(await user_stats.findOne({ _id: bob })).toMatchObject({ followers: 2, following: 1 })
    expect(await users.findOne({ _id: idOf('dan') })).toMatchObject({ createdAt: new Date(at) })
    await expectSound()
  })

  test('a repeated import of relations changes nothing and reports the same counts', async () => {
    await run()
    const before = await snapshot()
    const repeat = await run()
    expect(repeat).toMatchObject({
      written: zeroCounts,
      total: { ...written, ...passedOver },
      contradictions,
    })
    expect(await snapshot()).toEqual(before)
    await writeFile(join(folder, 'copy.csv.gz'), gzipSync(csv(mixed)))
    const copy = await run({ file: join(folder, 'copy.csv.gz') })
    expect(copy.written).toEqual({ ...zeroCounts, known: 8, empty: 2 })
    expect((await snapshot()).slice(0, -1)).toEqual(before.slice(0, -1))
  })

  test.each([1, 2, 4])(
    'an import of relations that stops after batch %i resumes to the same result',
    async (stopAfter) => {
      const now = () => Date.UTC(2026, 0, 2)
      await run({ batchSize: 2, now })
      const whole = await snapshot()
      for (const one of Object.values(harness.database.collections)) await one.deleteMany({})
      let batches = 0
      const onProgress = () => {
        if (++batches === stopAfter) throw new Error('killed')
      }
      await expect(run({ batchSize: 2, now, onProgress })).rejects.toThrow('killed')
      await expectSound()
      const stopped = await harness.database.collections.imports.findOne({})
      expect(stopped).toMatchObject({ done: false, position: 1 + 2 * stopAfter })
      const rest = await run({ batchSize: 3, now: () => now() + 1e6 })
      expect(rest.total).toEqual({ ...written, ...passedOver })
      expect(rest.contradictions).toEqual(contradictions)
      expect(await snapshot()).toEqual(whole)
    },
  )

  test('an aborted import of relations ends between batches and reports its counts', async () => {
    const controller = new AbortController()
    const onProgress = () => controller.abort(new Error('enough'))
    const aborted = run({ batchSize: 4, onProgress, signal: controller.signal })
    await expect(aborted).rejects.toMatchObject({
      message: 'enough',
      partialResult: { written: { pairs: 4 }, total: { pairs: 4 } },
    })
    await expectSound()
  })

  test('two concurrent runs of one import of relations write each pair once', async () => {
    const runs = await Promise.allSettled([run({ batchSize: 1 }), run({ batchSize: 2 })])
    for (const one of runs) {
      if (one.status === 'rejected') expect(one.reason).toMatchObject({ code: 'CONFLICT' })
    }
    expect((await run()).total).toEqual({ ...written, ...passedOver })
    await expectSound()
  })

  test.each([1, 3, 100])(
    'a dry run of an import of relations in batches of %i reports the same and writes nothing',
    async (batchSize) => {
      const [, , , eve, fay, zoe] = await people('ann', 'bob', 'gone', 'eve', 'fay', 'zoe')
      await harness.services.users.update(zoe as UserId, { handle: 'zed' as Handle })
      await harness.services.restrictions.block(handle('eve'), handle('fay'))
      await harness.services.users.delete(handle('gone'))
      await harness.services.follows.follow(handle('bob'), handle('ann'))
      const more = [
        `${eve} ${fay} 0 0 5 0 5`,
        `${fay} ${eve} 0 0 5 0 5`,
        'ann gone 0 0 5 0 5',
        'ann zed 0 0 5 0 5',
        'ann zoe 0 0 5 0 5',
        'pat zoe 0 0 5 0 5',
        'x x 0 0 0 0 0',
      ]
      await writeFile(file, csv([...mixed, ...more]))
      const before = await snapshot()
      const previewed = await preview({ batchSize })
      expect(await snapshot()).toEqual(before)
      expect(previewed.written).toEqual({
        users: 2,
        pairs: 7,
        edges: 6,
        events: 10,
        known: 2,
        blocked: 2,
        deleted: 3,
        unknown: 0,
        empty: 2,
      })
      expect(previewed.bad.first).toEqual([{ line: 18, problem: '"x" would follow itself' }])
      expect(await run({ batchSize })).toEqual(previewed)
      await expectSound()
    },
  )

  test('a skipped row of an import of relations opens no account', async () => {
    const [gone] = await people('gone')
    await harness.services.users.delete(gone as never)
    const rows = ['one two 0 0 0 0 0', 'three gone 0 0 5 0 5', 'four five 0 0 0 9 0']
    await writeFile(file, csv(rows))
    const unwritten = { ...zeroCounts, deleted: 1, empty: 1 }
    const previewed = await preview({ batchSize: 1 })
    const { written: counts } = await run()
    expect(previewed.written).toEqual(counts)
    expect(counts).toMatchObject({ deleted: unwritten.deleted, users: 0, pairs: 0 })
    const left = await harness.services.collections.users.find().toArray()
    expect(left.map(({ _id }) => _id)).toEqual(['gone'])
    expect(await harness.services.collections.user_stats.countDocuments()).toBe(0)
  })

  test('an import of relations skips pairs with a history', async () => {
    const [ann, bob, cem] = (await people('ann', 'bob', 'cem')) as [never, never, never]
    const { follows } = harness.services
    await follows.follow(ann, bob)
    await follows.follow(bob, cem)
    await follows.unfollow(bob, cem)
    const { follow_events } = harness.database.collections
    const own = { user: { $in: ['ann', 'bob'] }, source: 'FEEDLINE' } as const
    const before = await follow_events.find(own).toArray()
    expect((await run()).written).toMatchObject({ known: 3, pairs: 5, users: 1 })
    expect(await follow_events.find(own).toArray()).toEqual(before)
    expect(await follow_events.countDocuments({ user: 'bob', followee: 'cem' })).toBe(2)
    await expectSound()
  })

  test('follows and unfollows continue the imported history', async () => {
    await run()
    const { idOf } = await readAccountNames(harness.database.collections)
    const [ann, bob, cem] = [idOf('ann'), idOf('bob'), idOf('cem')]
    const { follows } = harness.services
    expect((await follows.unfollow(ann, bob)).changed).toBe(true)
    expect((await follows.follow(bob, ann)).changed).toBe(true)
    expect((await follows.follow(bob, cem)).changed).toBe(false)
    await expectSound()
  })

  test('an import of relations keeps counters exact during concurrent follows and unfollows', async () => {
    const names = Array.from({ length: 12 }, (_, n) => `u${n}`)
    const all = await people(...names)
    const rows = names.flatMap((one) =>
      names
        .filter((other) => other !== one)
        .map((other) => `${one} ${other} 3 0 5 ${one < other ? 9 : 0} 0`),
    )
    await writeFile(file, csv(rows))
    let going = true
    const traffic = async (offset: number) => {
      for (let n = offset; going; n += 7) {
        const [one, other] = [all[n % 12], all[(n * 5 + 1) % 12]]
        if (!one || !other || one === other) continue
        const { follows } = harness.services
        await persist(() =>
          n % 2 === 0 ? follows.follow(one, other) : follows.unfollow(one, other),
        )
      }
    }
    const running = [traffic(0), traffic(3)]
    const { written: counts } = await run({ batchSize: 10 }).finally(() => {
      going = false
    })
    await Promise.all(running)
    expect(counts.pairs + counts.known).toBe(132)
    expect(counts.pairs).toBeGreaterThan(0)
    await expectSound()
  })

  test('a batch of an import of relations is a bounded number of commands', async () => {
    const rows = Array.from({ length: 900 }, (_, n) => `a${n % 30} b${n % 31} 1 0 9 5 9`)
    await writeFile(file, csv(rows))
    const { result, commands } = await recorded(harness.database.client, () => run())
    expect(result.written).toMatchObject({ pairs: 900, events: 2_700 })
    // The owner of a key that the test before made hot reads requests for a second more.
    const sent = commands.filter(({ collection }) => !collection?.startsWith('hot_'))
    const names = sent.map(({ name }) => name)
    expect(names.filter((name) => name === 'commitTransaction')).toHaveLength(3)
    expect(names).toHaveLength(following === 'collection' ? 19 : 18)
  })
})
