import { MongoError } from 'mongodb'
import { expect, test } from 'vitest'
import { Once } from '../../src/db/once.ts'
import { Transactions } from '../../src/db/transaction.ts'
import { useDatabase } from '../support/mongo.ts'

const database = useDatabase()

function collision(): MongoError {
  const error = new MongoError('collided')
  error.addErrorLabel('TransientTransactionError')
  return error
}

test('a clock that is put forward ends no transaction before its time', async () => {
  let hour = 0
  const leaping = () => 3_600_000 * ++hour
  const transactions = new Transactions(
    database.client,
    new Once(database.collections.mutations, leaping),
  )
  let tries = 0
  const result = await transactions.run(async () => {
    if (++tries < 3) throw collision()
    return 'done'
  })
  expect({ result, tries }).toEqual({ result: 'done', tries: 3 })
})

test('a transaction that keeps colliding is given up after 5 s, though the clock stands', async () => {
  const standing = () => 0
  const transactions = new Transactions(
    database.client,
    new Once(database.collections.mutations, standing),
  )
  const startedAt = performance.now()
  const run = transactions.run(async () => {
    if (performance.now() - startedAt > 20_000) throw new Error('it would go on for ever')
    throw collision()
  })
  await expect(run).rejects.toMatchObject({ code: 'UNAVAILABLE' })
  expect(performance.now() - startedAt).toBeLessThan(8_000)
})
