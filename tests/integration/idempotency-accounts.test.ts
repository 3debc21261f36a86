import { expect, test } from 'vitest'
import { createIdempotencyKey } from '../../src/db/idempotency.ts'
import type { Post } from '../../src/posts/post.ts'
import { handle, useServices } from '../support/services.ts'

const harness = useServices()
const ann = handle('ann')
const post = async (text: string) => {
  const key = createIdempotencyKey(ann, 'createPost', { clientMutationId: 'x', ...{ text } })
  return (await harness.services.posts.create(ann, { text }, key)) as Post
}

test('idempotency keys end with the account: the next owner of the handle starts without any', async () => {
  const { services, database } = harness
  const { idempotency_keys } = database.collections
  const opened = createIdempotencyKey(ann, 'createUser', { clientMutationId: 'open' })
  const first = await services.users.create(ann, { name: 'Ann' }, opened)
  expect(await services.users.create(ann, { name: 'Ann' }, opened)).toEqual(first)
  const old = await post('of the first owner')
  expect(await post('of the first owner')).toEqual(old)
  const deleted = createIdempotencyKey(ann, 'deleteUser', { clientMutationId: 'end' })
  expect(await services.users.delete(ann, deleted)).toMatchObject({ changed: true, handle: ann })
  // Until the purge ends, a repeat returns the first result.
  expect(await services.users.delete(ann, deleted)).toMatchObject({ changed: true, handle: ann })
  await harness.rest()
  expect(await idempotency_keys.countDocuments()).toBe(0)

  await services.users.create(ann, { name: 'Another Ann' }, opened)
  const fresh = await post('of the second owner')
  expect(fresh).toMatchObject({ text: 'of the second owner' })
  expect(fresh.id).not.toBe(old.id)
  await services.users.delete(ann, deleted)
  await harness.rest()

  // A late record, from a process that still saw the earlier account, does not count for the later account.
  await services.users.create(ann, { name: 'Third Ann' })
  const stale = { viewer: ann, since: new Date(0), id: 'x' }
  await idempotency_keys.insertOne({
    _id: stale,
    fingerprint: new Uint8Array() as never,
    result: old,
    at: new Date(),
  })
  expect(await post('of the third owner')).toMatchObject({ text: 'of the third owner' })
})

test('a late purge removes no idempotency key of the next owner of the handle', async () => {
  const { services, database } = harness
  const ben = handle('ben')
  const { users, idempotency_keys } = database.collections
  const rowOf = (since: Date) => ({
    _id: { viewer: ben, since, id: 'x' },
    ...{ fingerprint: new Uint8Array() as never, result: {}, at: new Date() },
  })
  const [was, is] = [new Date(1_000), new Date(2_000)]
  await users.insertOne({ _id: ben, name: 'Ben', createdAt: was, deletedAt: new Date() })
  await idempotency_keys.insertMany([rowOf(was), rowOf(is)])
  const run = { signal: new AbortController().signal, onRemoved: async () => {} }
  await services.transactions.idempotency.removeResults(ben, run)
  expect(
    (await idempotency_keys.find({ '_id.viewer': ben }).toArray()).map(({ _id }) => _id.since),
  ).toEqual([is])
})
