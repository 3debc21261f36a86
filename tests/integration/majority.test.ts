import { expect, test } from 'vitest'
import { connect } from '../../src/db/client.ts'
import { openCollections } from '../../src/db/collections.ts'
import { Once, onceKey } from '../../src/db/once.ts'
import { Transactions, type Tx } from '../../src/db/transaction.ts'
import { replicaSet } from '../support/replica-set.ts'
import { handle } from '../support/services.ts'

test('a repeated idempotency key is not answered from a record without a majority', async () => {
  await using set = await replicaSet()
  const client = await connect(set.uri)
  try {
    const collections = openCollections(client.db('majority'))
    const { users, mutations, meta } = collections
    const bounds = { tryMsMax: 1_000, answerMsMax: 1_500 }
    const once = new Once(collections, Date.now)
    const [hasty, patient] = [
      new Transactions(client, once, bounds),
      new Transactions(client, once),
    ]
    const key = onceKey(handle('ann'), 'write', { clientMutationId: 'm1' })
    let written = 0
    const write = (transactions: Transactions) =>
      transactions.run(async ({ session }: Tx) => {
        await meta.insertOne({ _id: `thing${++written}`, value: 'new' }, { session })
        return { written }
      }, key)
    await Promise.all([
      users.insertOne({ _id: 'ann', name: 'Ann', createdAt: new Date() }),
      mutations.insertOne({ _id: 'first' } as never),
      meta.insertOne({ _id: 'first', value: '' }),
    ])

    await set.setReplicating(false)
    await expect(write(hasty)).rejects.toMatchObject({ code: 'UNAVAILABLE' })
    await expect(write(hasty)).rejects.toMatchObject({ code: 'UNAVAILABLE' })
    await set.setReplicating(true)
    const first = await write(patient)
    expect(await write(patient)).toEqual(first)
    expect(await meta.countDocuments({ value: 'new' })).toBe(1)
  } finally {
    await client.close()
  }
}, 90_000)
