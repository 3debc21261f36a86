import { expect, test } from 'vitest'
import { onceKey } from '../../src/db/once.ts'
import { handle, useServices } from '../support/services.ts'

const harness = useServices()
const ann = handle('ann')
const post = (text: string) => {
  const key = onceKey(ann, 'createPost', { clientMutationId: 'x', ...{ text } })
  return harness.services.posts.create(ann, { text }, key)
}

test('idempotency keys end with their account: the next owner of the handle starts with none', async () => {
  const { services, database } = harness
  const { mutations } = database.collections
  const opened = onceKey(ann, 'createUser', { clientMutationId: 'open' })
  const first = await services.users.create(ann, { name: 'Ann' }, opened)
  expect(await services.users.create(ann, { name: 'Ann' }, opened)).toEqual(first)
  const old = await post('of the first owner')
  expect(await post('of the first owner')).toEqual(old)
  const deleted = onceKey(ann, 'deleteUser', { clientMutationId: 'end' })
  expect(await services.users.delete(ann, deleted)).toBe(true)
  // Until the purge is over, a repeat returns the first result.
  expect(await services.users.delete(ann, deleted)).toBe(true)
  await harness.rest()
  expect(await mutations.countDocuments()).toBe(0)

  await services.users.create(ann, { name: 'Another Ann' }, opened)
  const fresh = await post('of the second owner')
  expect(fresh).toMatchObject({ text: 'of the second owner' })
  expect(fresh.id).not.toBe(old.id)
  await services.users.delete(ann, deleted)
  await harness.rest()

  // A late record from a process that still saw an earlier account does not apply to a later account.
  await services.users.create(ann, { name: 'Third Ann' })
  const stale = { viewer: ann, since: new Date(0), id: 'x' }
  await mutations.insertOne({
    _id: stale,
    fingerprint: new Uint8Array() as never,
    result: old,
    at: new Date(),
  })
  expect(await post('of the third owner')).toMatchObject({ text: 'of the third owner' })
})

test('a purge by a delayed worker deletes no idempotency key of the next owner', async () => {
  const { services, database } = harness
  const ben = handle('ben')
  const { users, mutations } = database.collections
  const rowOf = (since: Date) => ({
    _id: { viewer: ben, since, id: 'x' },
    ...{ fingerprint: new Uint8Array() as never, result: {}, at: new Date() },
  })
  const [was, is] = [new Date(1_000), new Date(2_000)]
  await users.insertOne({ _id: ben, name: 'Ben', createdAt: was, deletedAt: new Date() })
  await mutations.insertMany([rowOf(was), rowOf(is)])
  const run = { signal: new AbortController().signal, onRemoved: async () => {} }
  await services.transactions.once.purge(ben, run)
  expect(
    (await mutations.find({ '_id.viewer': ben }).toArray()).map(({ _id }) => _id.since),
  ).toEqual([is])
})
