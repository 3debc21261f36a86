import { expect, test } from 'vitest'
import { toObjectId } from '../../src/db/object-id.ts'
import { sameLimits } from '../support/engagement.ts'
import { handle, openAccounts, useServices } from '../support/services.ts'

const harness = useServices('collection', sameLimits({ threshold: 10, capacity: 2 }))

test('a malformed entry fails the writes about it, and no other write of its batch', async () => {
  const { engagements, collections, posts } = harness.services
  const [ann, ...others] = ['ann', 'ben', 'carl', 'dora', 'emma'].map(handle)
  if (!ann) throw new Error('a user')
  await openAccounts(harness.services, [ann, ...others])
  const { id } = await posts.create(ann, { text: 'hello' })
  const post = { id, author: ann }
  await engagements.add('likes', ann, post)
  const own = { _id: toObjectId(id) }
  await collections.posts.updateOne(own, { $set: { 'likes.0._id': 'none' as never } })
  const writes = await Promise.allSettled([
    engagements.add('likes', ann, post),
    ...others.slice(0, 2).map((user) => engagements.add('likes', user, post)),
    engagements.remove('likes', ann, post),
    ...others.slice(2).map((user) => engagements.add('likes', user, post)),
  ])
  expect(writes.map(({ status }) => status)).toEqual([
    ...['rejected', 'fulfilled', 'fulfilled'],
    ...['rejected', 'fulfilled', 'fulfilled'],
  ])
  for (const write of writes) {
    if (write.status === 'rejected') expect(write.reason).toMatchObject({ code: 'NOT_FOUND' })
  }
  const stored = await collections.posts.findOne(own)
  expect(stored?.likes?.map(({ actor }) => actor).sort()).toEqual([ann, ...others].sort())
  expect(stored?.counts?.likes).toBe(5)
})

test('an account is not removed while a malformed entry of it is left, whose like would stay', async () => {
  const { engagements, collections, posts, users, queue } = harness.services
  const [author, fan] = ['author', 'fan'].map(handle)
  if (!author || !fan) throw new Error('two users')
  await openAccounts(harness.services, [author, fan])
  const { id } = await posts.create(author, { text: 'hello' })
  await engagements.add('likes', fan, { id, author })
  await harness.rest()
  await collections.engagements_by_user.updateOne(
    { user: fan },
    { $set: { post: 'none' as never } },
  )
  await users.delete(fan)
  await expect(harness.rest()).rejects.toThrow('a job is left')
  expect(await collections.users.findOne({ _id: fan })).not.toBeNull()
  const post = await collections.posts.findOne({ _id: toObjectId(id) })
  expect(post?.likes).toHaveLength(1)
  await collections.engagements_by_user.updateOne({ user: fan }, { $set: { post: toObjectId(id) } })
  await queue.retryAll()
  await harness.rest()
  expect(await collections.users.findOne({ _id: fan })).toBeNull()
})

test('a like that would go to a level without a list is refused, and not an internal error', async () => {
  const { engagements, collections, posts } = harness.services
  const fans = Array.from({ length: 13 }, (_, n) => handle(`level${n}`))
  const late = handle('late')
  await openAccounts(harness.services, [...fans, late])
  const author = fans[0] as (typeof fans)[number]
  const { id } = await posts.create(author, { text: 'hello' })
  for (const fan of fans) await engagements.add('likes', fan, { id, author })
  const last = { '_id.post': toObjectId(id), '_id.level': 1 }
  const { matchedCount } = await collections.overflow.updateOne(last, {
    $set: { items: 'x' as never },
  })
  expect(matchedCount).toBe(1)
  await expect(engagements.add('likes', late, { id, author })).rejects.toMatchObject({
    code: 'NOT_FOUND',
  })
})
