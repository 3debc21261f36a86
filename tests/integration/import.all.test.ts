import { utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { Checkpoints } from '../../packages/import/checkpoint.ts'
import { importGraph } from '../../packages/import/import-graph.ts'
import { skippedKept } from '../../packages/import/skipped-pairs.ts'
import { toObjectId } from '../../src/db/object-id.ts'
import { readAccountNames } from '../support/account-names.ts'
import { persist } from '../support/eventually.ts'
import { ring, useImports } from '../support/imports.ts'
import { failCommand, recorded } from '../support/mongo.ts'
import { sampledFollowing } from '../support/repetition.ts'
import { handle, namesOf } from '../support/services.ts'

describe.each(sampledFollowing(1))('%s', (following) => {
  const imports = useImports(following)
  const { database, services, graph, expectExact } = imports
  const all = () => Object.values(database.collections)

  /** All stored data, except ids from the clock or by chance, runs of imports, and versions. */
  async function snapshot() {
    const { users, user_stats, followers, following, posts, imports } = database.collections
    const { handles, subjects, follow_events } = database.collections
    const { inHandles } = await readAccountNames(database.collections)
    const events = follow_events.find({}, { projection: { _id: 0 } }).toArray()
    const stored = [users, handles, subjects, user_stats, followers, following, posts, imports]
    const read = stored.map((collection) =>
      collection.find({}, { projection: { audience: 0, run: 0 } }).toArray(),
    )
    return (await Promise.all([events, ...read])).map(inHandles)
  }

  test('an import of edges writes users, edges, history and counters, dated by its start', async () => {
    const at = Date.UTC(2026, 0, 2, 3, 4, 5, 678)
    const result = await graph({ now: () => at, batchSize: 70 })
    const counts = { users: 60, edges: 300, known: 0, blocked: 0, deleted: 0, unknown: 0 }
    expect(result).toMatchObject({ written: counts, total: counts, bad: { count: 0, first: [] } })
    expect(result.lines).toMatchObject({ read: 301, edges: 300, comments: 1 })
    expect(await expectExact()).toBe(300)
    const { users, followers, follow_events } = database.collections
    const { idOf } = await readAccountNames(database.collections)
    expect(idOf('u0')).toMatch(/^[A-Z][A-Za-z0-9]{10}$/)
    expect(await users.findOne({ _id: idOf('u0') })).toEqual({
      _id: idOf('u0'),
      ...{ handle: 'u0', subject: ' u0', name: 'u0' },
      createdAt: new Date(at),
    })
    const edge = await followers.findOne({ user: idOf('u1'), follower: idOf('u0') })
    expect(edge).toMatchObject({ source: 'IMPORT' })
    expect(edge?._id.getTimestamp()).toEqual(new Date(at - 678))
    expect(
      await follow_events.countDocuments({ type: 'FOLLOWED', source: 'IMPORT', at: new Date(at) }),
    ).toBe(300)
  })

  test('a repeated import of edges changes nothing, and the same edges in another file change no edge', async () => {
    await graph({ mutual: true })
    const before = await snapshot()
    expect((await graph({ mutual: true })).written).toMatchObject({
      users: 0,
      edges: 0,
      unknown: 0,
    })
    expect(await snapshot()).toEqual(before)
    await writeFile(join(imports.folder, 'copy.txt'), ring(60, 5))
    const copy = await importGraph(services(), {
      file: join(imports.folder, 'copy.txt'),
      mutual: true,
    })
    expect(copy.written).toMatchObject({ users: 0, edges: 0, unknown: 0 })
    expect((await snapshot()).slice(0, -1)).toEqual(before.slice(0, -1))
  })

  test('duplicate edges, within and across batches, are imported once', async () => {
    await writeFile(imports.file, 'a b\nb a\na b\nc a\na b 2\nA B\nb a\nb c\n')
    const result = await graph({ mutual: true, batchSize: 3 })
    expect(result.written).toMatchObject({ users: 3, edges: 6, known: 10 })
    expect(result.skipped.known[0]).toMatchObject({ line: 2, follower: 'b', followee: 'a' })
    expect(result.skipped.known).toHaveLength(skippedKept)
    expect(await expectExact()).toBe(6)
  })

  test('an import of edges skips and reports invalid lines, also when repeated', async () => {
    await writeFile(imports.file, 'a b\nnonsense\nb b\nb c\n')
    for (const edges of [2, 0]) {
      const { written, bad } = await graph()
      expect(written.edges).toBe(edges)
      expect(bad.first.map(({ line }) => line)).toEqual([2, 3])
    }
  })

  test.each([1, 2, 5])(
    'an import of edges that stops after batch %i resumes to the same result',
    async (stopAfter) => {
      const at = Date.UTC(2026, 0, 2)
      await graph({ mutual: true, batchSize: 50, now: () => at })
      const whole = await snapshot()
      for (const collection of all()) await collection.deleteMany({})
      let batches = 0
      const onProgress = () => {
        if (++batches === stopAfter) throw new Error('stopped')
      }
      const stopped = graph({ mutual: true, batchSize: 50, now: () => at, onProgress })
      await expect(stopped).rejects.toThrow('stopped')
      expect(await expectExact()).toBeGreaterThan(0)
      await graph({ mutual: true, batchSize: 77, now: () => at + 1e6 })
      expect(await snapshot()).toEqual(whole)
    },
  )

  test('the stored record of an import keeps its fields, so that a later version can resume it', async () => {
    const record = (kind: string, position: number, counts: object) => ({
      _id: expect.stringMatching(/^[0-9a-f]{32}$/),
      path: imports.file,
      startedAt: expect.any(Date),
      run: expect.any(String),
      ...{ kind, position, done: true, counts },
    })
    const stop = () => {
      throw new Error('stopped')
    }
    await expect(graph({ batchSize: 50, onProgress: stop })).rejects.toThrow('stopped')
    const stored = () => database.collections.imports.find().sort({ kind: 1 }).toArray()
    const skipped = { known: 0, blocked: 0, deleted: 0, unknown: 0 }
    expect(await stored()).toEqual([
      {
        ...record('graph', 51, { users: 15, edges: 50, ...skipped }),
        done: false,
        session: { id: expect.anything() },
      },
    ])
    await graph()
    expect(await stored()).toEqual([record('graph', 301, { users: 60, edges: 300, ...skipped })])
  })

  test('an aborted import of edges ends between batches and reports its counts', async () => {
    const controller = new AbortController()
    const onProgress = () => controller.abort(new Error('enough'))
    const aborted = graph({ batchSize: 50, onProgress, signal: controller.signal })
    await expect(aborted).rejects.toMatchObject({
      message: 'enough',
      partialResult: { written: { edges: 50 }, total: { edges: 50 }, bad: { count: 0 } },
    })
    expect(await expectExact()).toBe(50)
  })

  test('a file that was edited without a change of its length is another import', async () => {
    await writeFile(imports.file, 'a b\nb c\n')
    expect((await graph()).written.edges).toBe(2)
    await writeFile(imports.file, 'a b\nb a\n')
    await utimes(imports.file, new Date(), new Date(Date.now() + 1_000))
    expect((await graph()).written).toMatchObject({ users: 0, edges: 1, unknown: 0 })
    expect((await graph()).written.edges).toBe(0)
    expect(await expectExact()).toBe(3)
  })

  test('an import counts a batch once if the answer to its commit is lost', async () => {
    const failure = {
      failCommands: ['commitTransaction'],
      times: 2,
      writeConcernError: { code: 64, errmsg: 'waiting for replication timed out' },
    }
    await using _ = await failCommand(database.client, failure)
    await graph({ batchSize: 100 })
    expect(await expectExact()).toBe(300)
  })

  test('a batch that was written after its answer was given up is no other run of the import', async () => {
    const key = {
      kind: 'graph',
      file: { path: 'edges.txt', sizeBytes: 1, modifiedMs: 1 },
      options: {},
    } as const
    const [run, other] = [1, 2].map(() => new Checkpoints(database.collections.imports))
    const before = await (run as Checkpoints).open(key, { edges: 0 }, Date.now())
    const move = (by: Checkpoints | undefined, position: number) =>
      services().transactions.run((tx) =>
        (by as Checkpoints).move(tx, before, {
          position,
          done: false,
          counts: { edges: position },
        }),
      )
    await move(run, 70)
    await expect(move(run, 70)).rejects.toMatchObject({ code: 'UNAVAILABLE' })
    await expect(move(other, 70)).rejects.toMatchObject({ code: 'CONFLICT' })
    expect(await (run as Checkpoints).reload(before)).toMatchObject({ position: 70 })
  })

  test('two concurrent runs of one import of edges write each edge once', async () => {
    const runs = await Promise.allSettled([graph({ batchSize: 20 }), graph({ batchSize: 30 })])
    for (const run of runs) {
      if (run.status === 'rejected') expect(run.reason).toMatchObject({ code: 'CONFLICT' })
    }
    await graph()
    expect(await expectExact()).toBe(300)
  })

  test('an import of edges keeps counters exact during concurrent follows and unfollows', async () => {
    await writeFile(imports.file, ring(60, 30))
    const { follows } = services()
    await writeFile(join(imports.folder, 'first.txt'), ring(60, 1))
    await importGraph(services(), { file: join(imports.folder, 'first.txt'), mutual: false })
    const { idOf } = await readAccountNames(database.collections)
    const people = Array.from({ length: 60 }, (_, n) => idOf(`u${n}`))
    let going = true
    let changes = 0
    const traffic = async (offset: number) => {
      for (let n = offset; going; n += 7) {
        const [one, other] = [people[n % 60], people[(n * 11 + 1) % 60]]
        if (!one || !other || one === other) continue
        const act = n % 2 === 0 ? follows.follow : follows.unfollow
        if ((await persist(() => act.call(follows, one, other))).changed) changes++
      }
    }
    const running = [traffic(0), traffic(3)]
    await graph({ batchSize: 100, mutual: true }).finally(() => {
      going = false
    })
    await Promise.all(running)
    expect(changes).toBeGreaterThan(0)
    expect(await expectExact()).toBeGreaterThan(1_000)
  })

  test('an import of edges skips deleted users and blocked pairs', async () => {
    await writeFile(imports.file, 'a b\nb c\nc d\nd a\n')
    const { users, restrictions } = services()
    const [a, b, c] = [handle('a'), handle('b'), handle('c')]
    for (const id of [a, b, c]) await users.create(id, { ...namesOf(id), name: id })
    await users.delete(a)
    await restrictions.block(c, b)
    const { written, skipped } = await graph({ mutual: true })
    expect(written).toMatchObject({ users: 1, edges: 2, blocked: 2, deleted: 4 })
    const linesOf = (pairs: typeof skipped.deleted) => pairs.map(({ line }) => line)
    expect([linesOf(skipped.deleted), linesOf(skipped.blocked)]).toEqual([
      [1, 1, 4, 4],
      [2, 2],
    ])
    expect(await expectExact()).toBe(2)
  })

  test('an import of edges keeps the id and source of an existing edge', async () => {
    const { users, follows } = services()
    for (const id of ['u0', 'u1'])
      await users.create(handle(id), { ...namesOf(handle(id)), name: id })
    const { edge } = await follows.follow(handle('u0'), handle('u1'))
    await graph()
    const stored = await database.collections.followers.findOne({ user: 'u1', follower: 'u0' })
    expect(stored?._id).toEqual(edge && toObjectId(edge.id))
    expect(stored?.source).toBe('FEEDLINE')
    expect(await expectExact()).toBe(300)
  })

  test('a batch of an import of edges is a bounded number of commands', async () => {
    const { commands } = await recorded(database.client, () => graph({ batchSize: 1_000 }))
    // The owner of a key that the test before made hot reads requests for a second more.
    const sent = commands.filter(({ collection }) => !collection?.startsWith('hot_'))
    const names = sent.map(({ name, collection }) => `${name} ${collection ?? ''}`.trim())
    expect(names.filter((name) => name === 'commitTransaction')).toHaveLength(3)
    expect(names.length).toBeLessThanOrEqual(21)
  })
})
