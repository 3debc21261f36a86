import { expect, test } from 'vitest'
import { connect } from '../../src/db/client.ts'
import { openCollections } from '../../src/db/collections.ts'
import { Once, onceKey } from '../../src/db/once.ts'
import { Transactions, type Tx } from '../../src/db/transaction.ts'
import { replicaSet } from '../support/replica-set.ts'
import { handle } from '../support/services.ts'

test('a repeat under a clientMutationId is not answered from a record that no majority holds', async () => {
  await using set = await replicaSet()
  const client = await connect(set.uri)
  try {
    const { mutations, meta } = openCollections(client.db('majority'))
    const bounds = { tryMsMax: 1_000, answerMsMax: 1_500 }
    const transactions = new Transactions(client, new Once(mutations, Date.now), bounds)
    const key = onceKey(handle('ann'), 'write', { clientMutationId: 'm1' })
    let written = 0
    const write = () =>
      transactions.run(async ({ session }: Tx) => {
        await meta.insertOne({ _id: `thing${++written}`, value: 'new' }, { session })
        return { written }
      }, key)
    await Promise.all([
      mutations.insertOne({ _id: { viewer: 'other', id: 'x' } } as never),
      meta.insertOne({ _id: 'first', value: '' }),
    ])

    await set.setReplicating(false)
    await expect(write()).rejects.toMatchObject({ code: 'UNAVAILABLE' })
    await expect(write()).rejects.toMatchObject({ code: 'UNAVAILABLE' })
    await set.setReplicating(true)
    const first = await transactions.run(async () => ({ written: -1 }), key)
    expect(await write()).toEqual(first)
    expect(await meta.countDocuments({ value: 'new' })).toBe(1)
  } finally {
    await client.close()
  }
}, 90_000)
