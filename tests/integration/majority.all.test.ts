import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { connect } from '../../src/db/client.ts'
import { openCollections } from '../../src/db/collections.ts'
import { createIdempotencyKey, IdempotencyStore } from '../../src/db/idempotency.ts'
import { applyIndexes, loadIndexStates } from '../../src/db/indexes.ts'
import { Transactions, type Tx } from '../../src/db/transaction.ts'
import { replicaSet } from '../support/replica-set.ts'
import { handle, storedNames } from '../support/services.ts'

test('a repeated mutation is answered only from a saved result that a majority has', async () => {
  await using set = await replicaSet()
  const client = await connect(set.uri)
  try {
    const collections = openCollections(client.db('majority'))
    const { users, idempotency_keys, meta } = collections
    const bounds = { tryMsMax: 1_000, answerMsMax: 1_500 }
    const idempotency = new IdempotencyStore(collections, Date.now)
    const [hasty, patient] = [
      new Transactions(client, idempotency, bounds),
      new Transactions(client, idempotency),
    ]
    const key = createIdempotencyKey(handle('ann'), 'write', { clientMutationId: 'm1' })
    let written = 0
    const write = (transactions: Transactions) =>
      transactions.run(async ({ session }: Tx) => {
        await meta.insertOne({ _id: `thing${++written}`, value: 'new' }, { session })
        return { written }
      }, key)
    await Promise.all([
      users.insertOne({ _id: 'ann', ...storedNames('ann'), name: 'Ann', createdAt: new Date() }),
      idempotency_keys.insertOne({ _id: 'first' } as never),
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
})

test('indexes are built while one of three members is down', async () => {
  await using set = await replicaSet()
  const client = await connect(set.uri, 'bulk')
  try {
    const db = client.db('majority')
    // An empty collection asks no other member.
    await db.collection('following').insertOne({ user: 'ann', followee: 'ben' })
    await set.killSecondary()
    const built = applyIndexes(db, 'collection', ['following'])
    const outcome = await Promise.race([built.then(() => 'built'), sleep(20_000, 'waits')])
    expect(outcome).toBe('built')
    const states = await loadIndexStates(db, 'collection', ['following'])
    expect(states.filter(({ present }) => !present)).toEqual([])
  } finally {
    await client.close()
  }
})
