import { MongoServerError } from 'mongodb'
import { expect, test } from 'vitest'
import type { Transactions } from '../../src/db/transaction.ts'
import { inspect } from '../../src/integrity/inspect.ts'
import type { Invariant } from '../../src/integrity/invariant.ts'

const invariant: Invariant<number, number> = {
  name: 'small-numbers',
  law: 'L3',
  async *scan(upTo) {
    for (let number = 1; number <= upTo; number++) yield number
  },
  recheck: async () => ({ violations: [] }),
}

test('a check whose snapshot is dropped three times fails with the name of its invariant', async () => {
  let retries = 0
  const transactions = {
    atSnapshot: async () => {
      throw new MongoServerError({ message: 'gone', code: 246 })
    },
  } as unknown as Transactions
  const onRetry = () => void retries++
  const check = inspect({ transactions, repair: false, onRetry }, invariant, 1)
  await expect(check.next()).rejects.toMatchObject({
    code: 'UNAVAILABLE',
    message: expect.stringMatching(/^The check of small-numbers takes longer than /),
  })
  expect(retries).toBe(3)
})
