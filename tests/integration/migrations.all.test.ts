import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { MongoServerError } from 'mongodb'
import { expect, inject, test } from 'vitest'
import { connect } from '../../src/db/client.ts'
import { migrations } from '../../src/db/migrations/list.ts'
import { migrate, planMigration } from '../../src/db/migrations/migrate.ts'
import type { Migration, Step } from '../../src/db/migrations/migration.ts'
import { guard, isView, renameWithView, replaceIndexes } from '../../src/db/migrations/steps.ts'
import type { Db } from '../../src/db/mongo.ts'
import { openSchema, readSchema, schemaVersion } from '../../src/db/schema-version.ts'
import { failCommand } from '../support/mongo.ts'
import { share } from '../support/repetition.ts'
import { timeOfCases } from '../support/seed.ts'

const [before, after] = ['trial_notes', 'trial_remarks']
const oldRemarks = { text: { $exists: true } }

/** A collection gets another name. The previous release goes on reading, and its writes under the old name are refused. */
const collection: Step = {
  plan: async ({ db }) =>
    (await isView(db, before))
      ? []
      : [`Rename ${before} to ${after}, and refuse writes to ${before}.`],
  run: (parts) => renameWithView(parts, before, after),
}

/** A field gets another name. Progress is in the data: only documents that are left to do have the old name. */
const field: Step = {
  async plan({ db }) {
    const counts = [before, after].map((name) => db.collection(name).countDocuments(oldRemarks))
    const [count = 0] = (await Promise.all(counts)).toSorted((a, b) => b - a)
    return count === 0 ? [] : [`Rename the field text of ${count} remarks.`]
  },
  async run({ db }) {
    await guard(db, after, { body: { $exists: true } })
    await db.collection(after).updateMany(oldRemarks, { $rename: { text: 'body' } })
  },
}

/** The recipe of a migration: a file with steps, and a line in the list. */
const trial: Migration = {
  name: 'remarks get their names',
  steps: [collection, field, replaceIndexes({ posts: ['trial_1'] })],
}
const all = [...migrations, trial]
const newest = schemaVersion + 1

/** A database of this release, with what the trial migrates. Disposing of it drops it and closes the client. */
async function openTrial() {
  const name = `test_${randomBytes(6).toString('hex')}`
  const client = await connect(inject('mongoUri'), 'bulk', { appName: name })
  const db = client.db(name)
  await openSchema(db, 'collection')
  const notes = Array.from({ length: 5 }, (_, n) => ({ _id: n as never, text: `note ${n}` }))
  await db.collection(before).insertMany(notes)
  await db.collection('posts').createIndex({ trial: 1 })
  const close = async () => {
    await db.dropDatabase()
    await client.close()
  }
  return { client, db, [Symbol.asyncDispose]: close }
}

/** Migrates without an operator. @returns what it said. */
async function migrated(db: Db): Promise<string[]> {
  const lines: string[] = []
  const { signal } = new AbortController()
  await migrate(db, { signal, log: (line) => lines.push(line) }, all)
  return lines
}

/** All that a database holds, but for the record of a migration in progress. */
async function contents(db: Db): Promise<object> {
  const listed = await db.listCollections({}, { nameOnly: false }).toArray()
  const parts = listed
    .filter(({ name }) => name !== 'system.views')
    .map(async ({ name, type, options }) => {
      const documents = await db.collection<{ _id: string }>(name).find().sort({ _id: 1 }).toArray()
      const indexes = type === 'view' ? [] : await db.collection(name).indexes()
      return [
        name,
        { type, options, documents: documents.filter(({ _id }) => _id !== 'migration') },
        indexes.map((one) => one.name).sort(),
      ] as const
    })
  return (await Promise.all(parts)).toSorted(([a], [b]) => (a < b ? -1 : 1))
}

async function expectedContents(): Promise<object> {
  await using database = await openTrial()
  await migrated(database.db)
  return await contents(database.db)
}

/** MongoDB's codes: DocumentValidationFailure, CommandNotSupportedOnView. */
const [invalid, onView] = [121, 166]
const refusal = (write: Promise<unknown>) => write.then(String, (error) => error.code)

test('a migration says what it would change, changes that, and nothing when it is repeated', async () => {
  await using database = await openTrial()
  const { db } = database
  const untouched = await contents(db)
  const { from, changes } = await planMigration(db, all)
  expect(await contents(db)).toEqual(untouched)
  expect(from).toBe(schemaVersion)
  expect(changes.slice(0, 2)).toEqual([
    'Rename trial_notes to trial_remarks, and refuse writes to trial_notes.',
    'Rename the field text of 5 remarks.',
  ])
  expect(changes).toContain('Drop the index trial_1 of posts.')
  const [title, ...lines] = await migrated(db)
  expect(title).toBe(
    `Migrating from schema version ${schemaVersion} to ${newest}: remarks get their names.`,
  )
  expect(lines).toEqual(changes)
  expect(await readSchema(db)).toEqual({ version: newest, following: 'collection' })
  const remarks = await db.collection(after).find().sort({ _id: 1 }).toArray()
  expect(remarks.map(({ body }) => body)).toEqual([0, 1, 2, 3, 4].map((n) => `note ${n}`))
  const settled = await contents(db)
  expect(await migrated(db)).toEqual([])
  expect(await planMigration(db, all)).toEqual({ from: newest, changes: [] })
  expect(await contents(db)).toEqual(settled)
})

test('a process of the previous release goes on reading, and its writes are refused', async () => {
  await using database = await openTrial()
  const { db } = database
  await migrated(db)
  expect(await db.collection(before).countDocuments()).toBe(5)
  expect(await refusal(db.collection(before).insertOne({ text: 'late' }))).toBe(onView)
  expect(await refusal(db.collection(after).insertOne({ text: 'late' }))).toBe(invalid)
})

test('what a process of the previous release writes between two commands of a migration is kept', async () => {
  await using database = await openTrial()
  const { db } = database
  await db.collection(before).rename(after)
  await db.collection(before).insertOne({ _id: 9 as never, text: 'late' })
  await migrated(db)
  expect(await db.collection(after).findOne({ _id: 9 as never })).toEqual({ _id: 9, body: 'late' })
  expect(await isView(db, before)).toBe(true)
})

/** Every command with which a migration may write. */
const failCommands = [
  ...['aggregate', 'insert', 'update', 'delete', 'findAndModify', 'create', 'collMod', 'drop'],
  ...['createIndexes', 'dropIndexes', 'renameCollection'],
]

test(
  'a migration comes out the same when it fails at any command, and is repeated',
  async () => {
    const expected = await expectedContents()
    const cases = Array.from({ length: 24 }, (_, n) => n)
    for (const skip of share(8, cases)) {
      await using database = await openTrial()
      const { client, db } = database
      {
        await using _failpoint = await failCommand(client, { failCommands, skip, errorCode: 1 })
        await migrated(db).catch((error: unknown) => {
          if (!(error instanceof MongoServerError && error.code === 1)) throw error
        })
      }
      // The lease of a process that could not release it runs out.
      const ended = { $set: { until: new Date(0) } }
      await db.collection('meta').updateOne({ _id: 'migration' as never }, ended)
      await migrated(db)
      expect(await contents(db), `failed at command ${skip}`).toEqual(expected)
    }
  },
  timeOfCases(120_000),
)

test('one process migrates at a time: another one says who works, and waits', async () => {
  const expected = await expectedContents()
  await using database = await openTrial()
  const both = await Promise.all([migrated(database.db), migrated(database.db)])
  const waited = both.filter(([line]) => line?.includes(`Process ${process.pid} on `))
  expect(waited).toHaveLength(1)
  expect(waited[0]).toHaveLength(1)
  expect(await contents(database.db)).toEqual(expected)
})

test('a migration waits for the lease of a process that was killed, and then goes on', async () => {
  await using database = await openTrial()
  const { db } = database
  const until = new Date(Date.now() + 1_500)
  const lease = { _id: 'migration' as never, holder: 'killed', process: '1 on elsewhere', until }
  await db.collection('meta').insertOne(lease)
  const running = migrated(db)
  await sleep(300)
  expect(await readSchema(db)).toMatchObject({ version: schemaVersion })
  const [line] = await running
  expect(line).toBe('Process 1 on elsewhere is migrating this database. Waiting until it ends.')
  expect(await readSchema(db)).toMatchObject({ version: newest })
})
