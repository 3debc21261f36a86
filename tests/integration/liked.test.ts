import { expect, test } from 'vitest'
import type { PostRef, UserId } from '../../src/lib/ids.ts'
import type { Window } from '../../src/lib/page.ts'
import { readPages } from '../../src/pages/pipeline.ts'
import { sameLimits } from '../support/engagement.ts'
import { handle, openAccounts, useServices } from '../support/services.ts'

const harness = useServices('collection', sameLimits({ threshold: 1, capacity: 2 }))
const all: Window = { limit: 20, backward: false }
let scenes = 0

/** Posts of `ann`, liked by `ben` and `carl`. The second like of each post is in the overflow. */
async function scene(count = 3) {
  const prefix = `s${scenes++}-`
  const [ann, ben, carl] = ['ann', 'ben', 'carl'].map((name) => handle(prefix + name)) as [
    UserId,
    UserId,
    UserId,
  ]
  await openAccounts(harness.services, [ann, ben, carl])
  const posts: PostRef[] = []
  while (posts.length < count) {
    const { id } = await harness.services.posts.create(ann, { text: 'hello' })
    posts.push({ id, author: ann })
  }
  const like = (user: UserId, post: PostRef | undefined) =>
    harness.services.engagements.add('likes', user, post as PostRef)
  const unlike = (user: UserId, post: PostRef | undefined) =>
    harness.services.engagements.remove('likes', user, post as PostRef)
  return { ann, ben, carl, posts, like, unlike }
}

const seenBy = (viewer: UserId | undefined) => harness.services.visibilityFor(viewer)

async function liked(user: UserId, viewer?: UserId, window = all) {
  const page = (
    await readPages(harness.services.engagedPosts('likes'), [user], window, seenBy(viewer))
  ).get(user)
  return page?.items.map(({ post }) => post.id)
}

test('liked posts are listed in the order of the likes, newest first', async () => {
  const { ben, posts, like } = await scene()
  const [one, two, three] = posts
  for (const post of [two, three, one]) await like(ben, post)
  expect(await liked(ben)).toEqual([one?.id, three?.id, two?.id])
})

test('a post that is liked again is listed first, and a second like changes nothing', async () => {
  const { ben, posts, like, unlike } = await scene()
  const [one, two, three] = posts
  for (const post of posts) await like(ben, post)
  await like(ben, two)
  expect(await liked(ben)).toEqual([three?.id, two?.id, one?.id])
  await unlike(ben, one)
  expect(await liked(ben)).toEqual([three?.id, two?.id])
  await like(ben, one)
  expect(await liked(ben)).toEqual([one?.id, three?.id, two?.id])
})

test('shares and comments are not in the list of liked posts', async () => {
  const { ben, posts } = await scene()
  const { engagements } = harness.services
  await engagements.add('shares', ben, posts[0] as PostRef)
  await engagements.add('comments', ben, posts[1] as PostRef, { text: 'nice' })
  expect(await liked(ben)).toEqual([])
})

test('a deleted post is not in the list of liked posts, before any job', async () => {
  const { ann, ben, posts, like } = await scene()
  const [one, two, three] = posts
  for (const post of posts) await like(ben, post)
  await harness.services.posts.delete(ann, two as PostRef)
  expect(await liked(ben)).toEqual([three?.id, one?.id])
  await harness.rest()
  expect(await liked(ben)).toEqual([three?.id, one?.id])
})

test('posts of a deleted author are not in the list of liked posts, before any job', async () => {
  const { ann, ben, posts, like } = await scene()
  for (const post of posts) await like(ben, post)
  await harness.services.users.delete(ann)
  expect(await liked(ben)).toEqual([])
  await harness.rest()
  expect(await liked(ben)).toEqual([])
})

test('a block hides liked posts of the two users from each other and from no one else', async () => {
  const { ann, ben, carl, posts, like } = await scene()
  const other = await scene(1)
  for (const post of [...posts, other.posts[0]]) await like(ben, post)
  const [elsewhere] = other.posts
  for (const [one, two] of [
    [ann, carl],
    [carl, ann],
  ] as const) {
    expect(await liked(ben, carl)).toHaveLength(4)
    await harness.services.restrictions.block(one, two)
    expect(await liked(ben, carl)).toEqual([elsewhere?.id])
    expect(await liked(ben, carl, { limit: 1, backward: true })).toEqual([elsewhere?.id])
    expect(await liked(ben, ben)).toHaveLength(4)
    expect(await liked(ben)).toHaveLength(4)
    await harness.services.restrictions.unblock(one, two)
  }
})

test('one call returns the liked posts of several users separately', async () => {
  const { ann, ben, carl, posts, like } = await scene()
  const [one, two, three] = posts
  for (const post of posts) await like(ben, post)
  for (const post of [three, one]) await like(carl, post)
  const pages = await readPages(
    harness.services.engagedPosts('likes'),
    [ann, ben, carl],
    { ...all, limit: 2 },
    seenBy(ann),
  )
  const found = [ann, ben, carl].map((user) => pages.get(user)?.items.map(({ post }) => post.id))
  expect(found).toEqual([[], [three?.id, two?.id], [one?.id, three?.id]])
  const more = [ann, ben, carl].map((user) => pages.get(user)?.hasNextPage())
  expect(await Promise.all(more)).toEqual([false, true, false])
})

test('a page of liked posts skips likes that a crash left only in the log', async () => {
  const { ben, posts, like, unlike } = await scene(4)
  for (const post of posts) await like(ben, post)
  const { engagements_by_user } = harness.services.collections
  const logged = await engagements_by_user.find({ user: ben }).toArray()
  for (const post of posts.slice(1)) await unlike(ben, post)
  await engagements_by_user.deleteMany({ user: ben })
  await engagements_by_user.insertMany(logged)
  const page = (
    await readPages(
      harness.services.engagedPosts('likes'),
      [ben],
      { ...all, limit: 1 },
      seenBy(ben),
    )
  ).get(ben)
  expect(page?.items.map(({ post }) => post.id)).toEqual([posts[0]?.id])
  expect(await page?.hasNextPage()).toBe(false)
  // After a second like, the old entry is not mistaken for the new like.
  await like(ben, posts[2])
  expect(await liked(ben)).toEqual([posts[2]?.id, posts[0]?.id])
})
