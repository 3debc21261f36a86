import { expect, test } from 'vitest'
import { toObjectId } from '../../src/db/object-id.ts'
import { FastPath } from '../../src/engagement/fast-path.ts'
import { listLimits } from '../../src/engagement/list-limits.ts'
import type { EngagementId, PostRef, UserId } from '../../src/lib/ids.ts'
import { sameLimits } from '../support/engagement.ts'
import { handle, openAccounts, useServices } from '../support/services.ts'

const limits = sameLimits({ threshold: 2, capacity: 2 })
const harness = useServices('collection', limits)

async function newPost(name: string) {
  const users = ['author', 'ann', 'ben'].map((user) => handle(`${name}-${user}`))
  await openAccounts(harness.services, users)
  const [author, ann, ben] = users as [UserId, UserId, UserId]
  const { id } = await harness.services.posts.create(author, { text: 'hello' })
  return { post: { id, author }, ann, ben }
}

/** Adds likes of one post in one command. */
const addTogether = (post: PostRef, users: readonly UserId[]) => {
  const fastPath = new FastPath(harness.services.collections.posts, listLimits(limits))
  const adds = users.map((actor) => {
    const _id = toObjectId(harness.services.mint.next<EngagementId>())
    return { post, kind: 'likes' as const, entry: { _id, actor } }
  })
  return fastPath.add(adds)
}

test('of two likes of one user in one command, only the stored like is acknowledged', async () => {
  const { post, ann } = await newPost('same')
  const [first, second] = await addTogether(post, [ann, ann])
  expect(first).toMatchObject({ changed: true })
  expect(second).toBeUndefined()
})

test('of two likes in one command, the like without room in the post is not acknowledged', async () => {
  const { post, ann, ben } = await newPost('full')
  await harness.services.engagements.add('likes', post.author, post)
  const [first, second] = await addTogether(post, [ann, ben])
  expect(first).toMatchObject({ changed: true })
  expect(second).toBeUndefined()
})
