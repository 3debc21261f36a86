import { ObjectId } from 'mongodb'
import { expect, test } from 'vitest'
import { migrations } from '../../src/db/migrations/list.ts'
import { migrate, planMigration } from '../../src/db/migrations/migrate.ts'
import { fromObjectId, highestId, lowestId } from '../../src/db/object-id.ts'
import { useDatabase } from '../support/mongo.ts'

const database = useDatabase()
const names = ['inbox_floors', 'sized_bucket_floors', 'timed_bucket_floors']
/** MongoDB's code of DocumentValidationFailure. */
const invalid = 121

/** A document of any of the collections. */
interface Doc {
  readonly _id: string | ObjectId
  readonly epoch?: ObjectId
  readonly [field: string]: unknown
}

const registration = (_id: string, options: Record<string, number>) => ({
  ...{ _id, epoch: lowestId, covered: 'zoe', complete: true, options },
  ...{ readers: { done: 2, total: 2 } },
})

test('a migration from floors of readers stores bounded timelines again, and refuses floors of readers', async () => {
  const { db } = database
  const docs = (name: string) => db.collection<Doc>(name)
  const none = { entriesMax: 0, ageMaxMs: 0, awayMaxMs: 0 }
  await docs('meta').updateOne({ _id: 'schema' }, { $set: { version: 3 } }, { upsert: true })
  await docs('meta').updateOne({ _id: 'schema' }, { $set: { following: 'collection' } })
  await docs('meta').updateOne({ _id: 'copies' }, { $set: { value: 'complete' } }, { upsert: true })
  await docs('meta').deleteOne({ _id: 'floors' })
  await docs('strategies').insertMany([
    registration('INBOX', { ...none, ageMaxMs: 5 }),
    registration('SIZED_BUCKETS', { ...none, awayMaxMs: 7 }),
    registration('TIME_BUCKETS', { ...none, periodMs: 1_000 }),
  ])
  const floor = { floor: highestId, token: new ObjectId() }
  for (const name of names) await docs(name).insertOne({ _id: 'ann', ...floor })
  await docs('outbox').insertOne({ _id: new ObjectId(), kind: 'timelines.fill', about: null })

  const { changes } = await planMigration(db, migrations)
  expect(changes).toEqual([
    ...names.map((name) => `Refuse writes to ${name}, and remove its documents.`),
    ...['INBOX', 'SIZED_BUCKETS'].map(
      (name) => `Store the timelines of ${name} again. Until then, pages come from FANOUT_ON_READ.`,
    ),
    'Refuse accounts without a handle in users.',
  ])
  const { signal } = new AbortController()
  const said: string[] = []
  await migrate(db, { signal, log: (line) => said.push(line) })
  expect(said.filter((line) => !line.startsWith('Migrating from'))).toEqual(changes)

  const strategies = await docs('strategies').find().sort({ _id: 1 }).toArray()
  expect(strategies).toMatchObject([
    { _id: 'INBOX', covered: '', complete: false, options: {}, readers: { done: 0, total: 2 } },
    { _id: 'SIZED_BUCKETS', covered: '', complete: false, options: {} },
    registration('TIME_BUCKETS', { ...none, periodMs: 1_000 }),
  ])
  expect(strategies[0]?.epoch?.equals(lowestId)).toBe(false)
  expect(fromObjectId(strategies[0]?.epoch ?? lowestId)).toMatch(/^[0-9a-f]{24}$/)
  for (const name of names) {
    expect(await docs(name).countDocuments()).toBe(0)
    const write = docs(name).updateOne({ _id: 'ann' }, { $set: floor }, { upsert: true })
    expect(await write.then(String, ({ code }) => code)).toBe(invalid)
  }
  expect(await docs('outbox').countDocuments()).toBe(0)
  // The previous release may still run, so no floor of a registration rises.
  expect(await docs('meta').findOne({ _id: 'floors' })).toBeNull()
  expect(await planMigration(db)).toMatchObject({ changes: [] })
})
