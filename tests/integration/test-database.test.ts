import { MongoNetworkError, MongoServerError } from 'mongodb'
import { expect, test } from 'vitest'
import { connect } from '../../src/db/client.ts'
import { loadIndexStates } from '../../src/db/indexes.ts'
import {
  emptyDatabase,
  failCommand,
  recorded,
  testDatabase,
  useDatabase,
} from '../support/mongo.ts'

const database = useDatabase()
const values = () => database.db.collection<{ _id: number }>('values')

test('a test database has every index', async () => {
  const states = await loadIndexStates(database.db, 'collection')
  expect(states.length).toBeGreaterThan(0)
  expect(states.every(({ present }) => present)).toBe(true)
})

test('an emptied database has no documents, and the collections and indexes of a new one', async () => {
  await using other = await testDatabase()
  expect(other.name).not.toBe(database.name)
  const { db } = other
  const before = await loadIndexStates(db, 'collection')
  await db.collection('things').insertOne({})
  await db.collection('follow_events').insertOne({})
  await db.collection('users').createIndex({ extra: 1 })
  await db.collection('posts').drop()
  await emptyDatabase(db, 'collection')
  const collections = await db.collections()
  expect(collections.map(({ collectionName }) => collectionName)).not.toContain('things')
  for (const collection of collections) expect(await collection.countDocuments()).toBe(0)
  expect(await db.collection('users').indexExists('extra_1')).toBe(false)
  expect(await loadIndexStates(db, 'collection')).toEqual(before)
})

test('commands are recorded with their collection, including each getMore', async () => {
  await values().insertMany([1, 2, 3].map((_id) => ({ _id })))
  const { result, commands } = await recorded(database.client, () =>
    values().find().batchSize(2).toArray(),
  )
  expect(result).toHaveLength(3)
  expect(commands.map(({ name, collection }) => [name, collection])).toEqual([
    ['find', 'values'],
    ['getMore', 'values'],
  ])
})

test('a failpoint fails the commands of its client only, until its disposal', async () => {
  const other = await connect(database.uri)
  try {
    {
      await using _ = await failCommand(database.client, { failCommands: ['find'], errorCode: 13 })
      await expect(values().findOne()).rejects.toBeInstanceOf(MongoServerError)
      await other.db(database.name).collection('values').findOne()
    }
    await values().findOne()
  } finally {
    await other.close()
  }
})

test('a broken connection is retried once by the driver, and recorded as two tries', async () => {
  const broken = { failCommands: ['insert'], closeConnection: true }
  {
    await using _ = await failCommand(database.client, { ...broken, times: 1 })
    const insert = () => values().insertOne({ _id: 10 })
    const { commands } = await recorded(database.client, insert)
    expect(commands.map(({ name }) => name)).toEqual(['insert', 'insert'])
  }
  await using _ = await failCommand(database.client, { ...broken, times: 2 })
  await expect(values().insertOne({ _id: 11 })).rejects.toBeInstanceOf(MongoNetworkError)
})

test('a failpoint may let the first commands succeed', async () => {
  await using _ = await failCommand(database.client, {
    failCommands: ['insert'],
    skip: 1,
    errorCode: 13,
  })
  await values().insertOne({ _id: 20 })
  await expect(values().insertOne({ _id: 21 })).rejects.toMatchObject({ code: 13 })
})
