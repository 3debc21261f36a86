import { once } from 'node:events'
import { MongoServerError, ObjectId } from 'mongodb'
import { describe, expect, test } from 'vitest'
import { planMigration } from '../../src/db/migrations/migrate.ts'
import { schemaVersion } from '../../src/db/schema-version.ts'
import { failCommand } from '../support/mongo.ts'
import { feedline } from '../support/process.ts'
import { share } from '../support/repetition.ts'
import { timeOfCases } from '../support/seed.ts'
import { drain } from '../support/services.ts'
import { verified } from '../support/verify.ts'
import { translateOperation } from './migrations/current-operations.ts'
import { expireLease, migrated, outcome, restored, serve } from './migrations/migrated.ts'
import { contents, type RecordedAnswer, readFixture } from './migrations/release-fixture.ts'

const { databases } = await readFixture('e62058d')
/** MongoDB's codes: DocumentValidationFailure, CommandNotSupportedOnView. */
const [invalid, onView] = [121, 166]

describe.each(databases)('a database of e62058d, following by $following', (recorded) => {
  test('answers every timeline, list and repeated mutation after the migration as it did before', async () => {
    await using database = await restored(recorded)
    await migrated(database.db)
    await using server = await serve(database)
    await drain(server.services)
    const differences: object[] = []
    const compare = async ({ as, query, variables, data }: RecordedAnswer) => {
      const now = translateOperation(recorded.queries[query] ?? '', variables)
      const found = await server.ask(as, now.query, now.variables)
      const said = JSON.stringify(found)
      if (said !== JSON.stringify(data)) differences.push({ as, query, variables, data, found })
    }
    for (const answer of recorded.answers) await compare(answer)
    for (const answer of recorded.repeats) await compare(answer)
    expect(recorded.answers.length).toBeGreaterThan(100)
    expect(recorded.repeats.length).toBeGreaterThan(4)
    expect(differences).toEqual([])
    expect((await verified(server.services)).differences).toEqual([])
  })

  test('says what a migration would change, changes nothing then, and nothing when it is repeated', async () => {
    await using database = await restored(recorded)
    const before = await contents(database.db)
    const { from, changes } = await planMigration(database.db)
    expect(await contents(database.db)).toEqual(before)
    expect(from).toBe(1)
    const lines = await migrated(database.db)
    expect(lines.filter((line) => !line.startsWith('Migrating from'))).toEqual(changes)
    for (const name of ['mutations', 'engaged', 'jobs', 'celebrities', 'index']) {
      expect(changes.filter((change) => change.includes(name))).not.toEqual([])
    }
    const after = await contents(database.db)
    expect(await migrated(database.db)).toEqual([])
    expect(await planMigration(database.db)).toEqual({ from: schemaVersion, changes: [] })
    expect(await contents(database.db)).toEqual(after)
  })

  test(
    'comes out the same when the migration fails at any command, and is repeated',
    async () => {
      const expected = await expectedOf()
      const cases = Array.from({ length: 64 }, (_, n) => n)
      for (const skip of share(48, cases)) {
        await using database = await restored(recorded)
        const failed = await failingAfter(database, skip)
        await expireLease(database.db)
        await migrated(database.db)
        expect(await outcome(database.db), `failed at command ${skip}: ${failed}`).toEqual(expected)
      }
    },
    timeOfCases(120_000),
  )

  test(
    'comes out the same when the migrating process is killed at any step, and is repeated',
    async () => {
      const expected = await expectedOf()
      await using planned = await restored(recorded)
      const lines = [...(await planMigration(planned.db)).changes.keys()]
      for (const line of share(24, lines)) {
        await using database = await restored(recorded)
        const first = feedline(['migrate'], database.env)
        while (first.err().split('\n').length <= line + 1 && first.child.exitCode === null) {
          await Promise.race([once(first.child.stderr ?? first.child, 'data'), first.ended])
        }
        first.child.kill('SIGKILL')
        await first.ended
        await expireLease(database.db)
        const second = feedline(['migrate'], database.env)
        expect(await second.ended, second.err()).toBe(0)
        expect(second.out()).toMatch(/version 3\.\n|nothing to migrate/)
        expect(await outcome(database.db)).toEqual(expected)
      }
    },
    timeOfCases(120_000),
  )

  test('is migrated by one process at a time: another one says who works, and waits', async () => {
    const expected = await expectedOf()
    await using database = await restored(recorded)
    const both = await Promise.all([migrated(database.db), migrated(database.db)])
    const waited = both.filter(([line]) => line?.includes(`Process ${process.pid} on `))
    expect(waited).toHaveLength(1)
    expect(waited[0]).toHaveLength(1)
    expect(await outcome(database.db)).toEqual(expected)
  })

  const failingAfter = async (
    { client, db }: Awaited<ReturnType<typeof restored>>,
    skip: number,
  ) => {
    await using _ = await failCommand(client, { failCommands: commands, skip, errorCode: 1 })
    return await migrated(db).then(
      () => 'nothing',
      (error: unknown) => {
        if (!(error instanceof MongoServerError && error.code === 1)) throw error
        return error.message
      },
    )
  }

  const expectedOf = async () => {
    await using database = await restored(recorded)
    await migrated(database.db)
    return await outcome(database.db)
  }
})

/** Every command with which a migration may write. */
const commands = [
  ...['aggregate', 'insert', 'update', 'delete', 'findAndModify', 'create', 'collMod', 'drop'],
  ...['createIndexes', 'dropIndexes', 'renameCollection'],
]

describe('a process of e62058d beside this release', () => {
  const [recorded] = databases
  if (!recorded) throw new Error('the fixture holds no database')

  test('goes on reading, and each write that this release would not see is refused', async () => {
    await using database = await restored(recorded)
    const { db } = database
    const before = await contents(db)
    await migrated(db)
    const { outbox, engaged, mutations, celebrities } = collectionsOf(db)
    const [job, row, record] = [before.outbox, before.engaged, before.mutations].map(
      (one) => one?.documents[0] ?? {},
    )
    const refusal = (write: Promise<unknown>) => write.then(String, (error) => error.code)
    const _id = new ObjectId() as never
    expect(await refusal(outbox.insertOne({ ...job, _id }))).toBe(invalid)
    expect(await refusal(engaged.insertOne({ ...row, _id }))).toBe(onView)
    expect(await refusal(mutations.insertOne({ ...record, _id }))).toBe(invalid)
    const author = { _id: 'ben' as never }
    expect(await refusal(celebrities.replaceOne(author, {}, { upsert: true }))).toBe(invalid)
    const falling = { $set: { falling: new ObjectId() } }
    expect(await refusal(celebrities.updateOne({ _id: 'star' as never }, falling))).toBe(invalid)
    // It finds no job to claim, and the jobs that it holds are no longer its own.
    expect(await outbox.countDocuments({ lane: { $in: ['QUICK', 'BULK'] } })).toBe(0)
    for (const { _id, fence } of before.outbox?.documents ?? []) {
      expect(await outbox.countDocuments({ _id, fence })).toBe(0)
    }
    expect(await engaged.find().sort({ _id: 1 }).toArray()).toEqual(before.engaged?.documents)
    expect(await mutations.countDocuments()).toBe(before.mutations?.documents.length)
    // Its next start compares this with FOLLOWING.
    expect(await db.collection('meta').findOne({ _id: 'following' as never })).toMatchObject({
      value: expect.stringContaining('schema version 2'),
    })
  })

  test('may write a like between two commands of the migration: the like is kept', async () => {
    await using database = await restored(recorded)
    const { db } = database
    const { engaged } = collectionsOf(db)
    const [row] = await engaged.find().toArray()
    await engaged.rename('engagements_by_user')
    const late = { ...row, _id: new ObjectId() }
    await engaged.insertOne(late)
    await migrated(db)
    expect(await db.collection('engagements_by_user').findOne({ _id: late._id })).toEqual(late)
    expect((await db.listCollections({ name: 'engaged' }).toArray())[0]?.type).toBe('view')
  })

  test('leaves the records of an earlier account of a handle behind', async () => {
    await using database = await restored(recorded)
    const { mutations } = collectionsOf(database.db)
    const [record] = await mutations.find().toArray()
    const at = new Date('2023-01-01')
    await mutations.insertOne({ ...record, _id: { viewer: 'ann', id: 'earlier' } as never, at })
    await migrated(database.db)
    const keys = database.db.collection('idempotency_keys')
    expect(await keys.countDocuments({ '_id.id': 'earlier' })).toBe(0)
    expect(await keys.countDocuments()).toBe((await mutations.countDocuments()) - 1)
  })

  const collectionsOf = (db: Awaited<ReturnType<typeof restored>>['db']) => ({
    outbox: db.collection('outbox'),
    engaged: db.collection('engaged'),
    mutations: db.collection('mutations'),
    celebrities: db.collection('celebrities'),
  })
})
