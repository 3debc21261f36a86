import { setTimeout as sleep } from 'node:timers/promises'
import { MongoError } from 'mongodb'
import { expect, test, vi } from 'vitest'
import { IdempotencyStore } from '../../src/db/idempotency.ts'
import { Transactions, type Tx } from '../../src/db/transaction.ts'
import { failCommand, useDatabase } from '../support/mongo.ts'

const database = useDatabase()

function collision(): MongoError {
  const error = new MongoError('collided')
  error.addErrorLabel('TransientTransactionError')
  return error
}

test('a clock of the database that jumps forward ends no transaction early', async () => {
  let hour = 0
  const leaping = () => 3_600_000 * ++hour
  const transactions = new Transactions(
    database.client,
    new IdempotencyStore(database.collections, leaping),
  )
  let tries = 0
  const result = await transactions.run(async () => {
    if (++tries < 3) throw collision()
    return 'done'
  })
  expect({ result, tries }).toEqual({ result: 'done', tries: 3 })
})

test('a transaction that keeps colliding fails after 5 s, also with a stopped clock of the database', async () => {
  const standing = () => 0
  const transactions = new Transactions(
    database.client,
    new IdempotencyStore(database.collections, standing),
  )
  let [at, tries] = [performance.now(), 0]
  vi.spyOn(performance, 'now').mockImplementation(() => at)
  const run = transactions.run(async () => {
    tries++
    at += 1_000
    throw collision()
  })
  await expect(run).rejects.toMatchObject({ code: 'UNAVAILABLE' })
  expect(tries).toBe(5)
})

const bounds = { tryMsMax: 200, answerMsMax: 500 }
const things = () => database.db.collection('things')
const short = () =>
  new Transactions(database.client, new IdempotencyStore(database.collections, Date.now), bounds)
const insert =
  (thing: string) =>
  async ({ session }: Tx) =>
    void (await things().insertOne({ thing }, { session }))

test('a transaction that the database never answers fails in time, and is never committed', async () => {
  await using _ = await failCommand(database.client, { failCommands: ['insert'], blockMs: 1_500 })
  await expect(short().run(insert('frozen'))).rejects.toMatchObject({
    code: 'UNAVAILABLE',
    message: 'The database did not answer in time. Nothing was changed. Try again later.',
  })
  // Without a limit, the insert would have succeeded after its block.
  await sleep(1_500)
  expect(await things().countDocuments({ thing: 'frozen' })).toBe(0)
})

test.each<[string, () => void]>([
  [
    'stopped',
    () => {
      const until = performance.now() + 2 * bounds.answerMsMax
      while (performance.now() < until);
    },
  ],
  [
    'suspended',
    () => {
      const wall = Date.now.bind(Date)
      vi.spyOn(Date, 'now').mockImplementation(() => wall() + 2 * bounds.answerMsMax)
    },
  ],
])('a transaction is not committed too late by a process that was %s', async (thing, pass) => {
  const run = short().run(async (tx) => {
    await insert(thing)(tx)
    // No timer is run before the commit.
    pass()
  })
  await expect(run).rejects.toThrow('Nothing was changed.')
  expect(await things().countDocuments({ thing })).toBe(0)
})

test('a commit that the database never answers fails in time with an unknown outcome', async () => {
  const block = { failCommands: ['commitTransaction'], blockMs: 1_500, times: 1 }
  await using _ = await failCommand(database.client, block)
  await expect(short().run(insert('unsure'))).rejects.toMatchObject({
    code: 'UNAVAILABLE',
    message: expect.stringContaining('It is not known whether the change was made.'),
  })
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
