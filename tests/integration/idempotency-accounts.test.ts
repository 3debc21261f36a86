import { expect, test } from 'vitest'
import { createIdempotencyKey } from '../../src/db/idempotency.ts'
import type { UserId } from '../../src/lib/ids.ts'
import type { Post } from '../../src/posts/post.ts'
import { subjectOf, useServices } from '../support/services.ts'

const harness = useServices()
const ann = subjectOf('ann')
const register = async (name: string) => {
  const opened = createIdempotencyKey('~ann' as UserId, 'createUser', { clientMutationId: 'open' })
  const user = await harness.services.users.register(ann, { name }, opened)
  if (!user) throw new Error('the account is there')
  return user.id
}
const post = async (author: UserId, text: string) => {
  const key = createIdempotencyKey(author, 'createPost', { clientMutationId: 'x', ...{ text } })
  return (await harness.services.posts.create(author, { text }, key)) as Post
}

test('idempotency keys end with the account: the next one of its subject starts without any', async () => {
  const { services, database } = harness
  const { idempotency_keys } = database.collections
  const first = await register('Ann')
  expect(await register('Ann')).toEqual(first)
  const old = await post(first, 'of the first account')
  expect(await post(first, 'of the first account')).toEqual({ ...old, isRepeat: true })
  const deleted = createIdempotencyKey(first, 'deleteUser', { clientMutationId: 'end' })
  expect(await services.users.delete(first, deleted)).toMatchObject({ changed: true })
  // Until the purge ends, a repeat returns the first result.
  expect(await services.users.delete(first, deleted)).toMatchObject({ changed: true })
  await harness.rest()
  expect(await idempotency_keys.countDocuments()).toBe(0)

  const next = await register('Another Ann')
  expect(next).not.toBe(first)
  const fresh = await post(next, 'of the second account')
  expect(fresh).toMatchObject({ text: 'of the second account' })
  expect(fresh.id).not.toBe(old.id)
})
