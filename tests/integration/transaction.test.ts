import { setTimeout as sleep } from 'node:timers/promises'
import { MongoError } from 'mongodb'
import { expect, test } from 'vitest'
import { Once } from '../../src/db/once.ts'
import { Transactions, type Tx } from '../../src/db/transaction.ts'
import { failCommand, useDatabase } from '../support/mongo.ts'

const database = useDatabase()

function collision(): MongoError {
  const error = new MongoError('collided')
  error.addErrorLabel('TransientTransactionError')
  return error
}

test('a clock that is advanced ends no transaction early', async () => {
  let hour = 0
  const leaping = () => 3_600_000 * ++hour
  const transactions = new Transactions(database.client, new Once(database.collections, leaping))
  let tries = 0
  const result = await transactions.run(async () => {
    if (++tries < 3) throw collision()
    return 'done'
  })
  expect({ result, tries }).toEqual({ result: 'done', tries: 3 })
})

test('a transaction that keeps colliding fails after 5 s, also while the clock stands still', async () => {
  const standing = () => 0
  const transactions = new Transactions(database.client, new Once(database.collections, standing))
  const startedAt = performance.now()
  const run = transactions.run(async () => {
    if (performance.now() - startedAt > 20_000) throw new Error('it would go on for ever')
    throw collision()
  })
  await expect(run).rejects.toMatchObject({ code: 'UNAVAILABLE' })
  expect(performance.now() - startedAt).toBeLessThan(8_000)
})

const bounds = { tryMsMax: 200, answerMsMax: 500 }
const things = () => database.db.collection('things')
const short = () =>
  new Transactions(database.client, new Once(database.collections, Date.now), bounds)
const insert =
  (thing: string) =>
  async ({ session }: Tx) =>
    void (await things().insertOne({ thing }, { session }))

test('a transaction without an answer of the database fails in time, and is never committed', async () => {
  await using _ = await failCommand(database.client, { failCommands: ['insert'], blockMs: 1_500 })
  const startedAt = performance.now()
  await expect(short().run(insert('frozen'))).rejects.toMatchObject({
    code: 'UNAVAILABLE',
    message: 'The database did not answer in time. Nothing was changed. Try again later.',
  })
  expect(performance.now() - startedAt).toBeLessThan(1_000)
  await sleep(1_500)
  expect(await things().countDocuments({ thing: 'frozen' })).toBe(0)
})

test('a commit without an answer of the database fails in time with an unknown outcome', async () => {
  const block = { failCommands: ['commitTransaction'], blockMs: 1_500, times: 1 }
  await using _ = await failCommand(database.client, block)
  const startedAt = performance.now()
  await expect(short().run(insert('unsure'))).rejects.toMatchObject({
    code: 'UNAVAILABLE',
    message: expect.stringContaining('It is not known whether the change was made.'),
  })
  expect(performance.now() - startedAt).toBeLessThan(1_000)
})

test('a failed transaction names the cause: a database without a primary, or colliding writes', async () => {
  {
    const down = { failCommands: ['insert'], errorCode: 10107 }
    await using _ = await failCommand(database.client, down)
    await expect(short().run(insert('down'))).rejects.toMatchObject({
      code: 'UNAVAILABLE',
      message: 'The database did not answer in time. Nothing was changed. Try again later.',
    })
  }
  const meets = { failCommands: ['insert'], errorCode: 112 }
  await using _ = await failCommand(database.client, meets)
  await expect(short().run(insert('met'))).rejects.toMatchObject({
    code: 'UNAVAILABLE',
    message: 'Other writes have locked the same data. Nothing was changed. Try again later.',
  })
})
