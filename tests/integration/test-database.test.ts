import { MongoNetworkError, MongoServerError } from 'mongodb'
import { expect, test } from 'vitest'
import { connect } from '../../src/db/client.ts'
import { loadIndexStates } from '../../src/db/indexes.ts'
import { failCommand, recorded, testDatabase, useDatabase } from '../support/mongo.ts'

const database = useDatabase()
const values = () => database.db.collection<{ _id: number }>('values')

test('a test database has every index', async () => {
  const states = await loadIndexStates(database.db, 'collection')
  expect(states.length).toBeGreaterThan(0)
  expect(states.every(({ present }) => present)).toBe(true)
})

test('a test database does not exist after its disposal', async () => {
  let name: string
  {
    await using other = await testDatabase('reverse-index')
    name = other.name
    expect(name).not.toBe(database.name)
  }
  const { databases } = await database.client.db().admin().listDatabases({ nameOnly: true })
  expect(databases.map((one) => one.name)).not.toContain(name)
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
