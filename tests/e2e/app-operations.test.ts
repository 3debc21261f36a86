import * as operations from '@feedline/client'
import { expect, test } from 'vitest'
import { useOperations } from '../support/executed-operations.ts'
import { filesByTest, readOperations } from '../support/written-operations.ts'

const { ask, open, executed } = useOperations()

test('an app reads and writes its pages with the documents of its own', async () => {
  await open('app-alice', 'app-bob')
  const bob = { user: { handle: 'app-bob' } }
  const follow = await ask('app-alice', operations.AddFollowDocument, { input: bob })
  expect(follow.result).toMatchObject({ user: { viewerFollows: true, followerCount: 1 } })
  const published = await ask('app-bob', operations.PublishPostDocument, { input: { text: 'new' } })
  const post = published.createPost.timelineEdge?.node
  const { timeline } = await ask('app-alice', operations.HomeTimelineDocument, { first: 5 })
  expect(timeline.edges.map(({ node }) => node)).toEqual([
    { ...post, viewerCanDelete: false, author: { ...post?.author, viewerFollows: true } },
  ])
  const input = { postId: post?.id ?? '' }
  const liked = await ask('app-alice', operations.AddLikeDocument, { input })
  expect(liked.result.post).toMatchObject({ likeCount: 1, viewerHasLiked: true })
  const unliked = await ask('app-alice', operations.RemoveLikeDocument, { input })
  expect(unliked.result.post).toMatchObject({ likeCount: 0, viewerHasLiked: false })
  const comment = { input: { ...input, text: 'yes' } }
  const { addComment } = await ask('app-alice', operations.WriteCommentDocument, comment)
  const { post: opened } = await ask('app-bob', operations.PostPageDocument, { id: input.postId })
  expect(opened).toMatchObject({
    text: 'new',
    commentCount: 1,
    comments: { edges: [{ node: { id: addComment.commentEdge?.node?.id, text: 'yes' } }] },
  })
  const { user } = await ask('app-alice', operations.ProfilePageDocument, { handle: 'app-bob' })
  expect(user).toMatchObject({ followerCount: 1, posts: { edges: [{ node: { text: 'new' } }] } })
  const unfollow = await ask('app-alice', operations.RemoveFollowDocument, { input: bob })
  expect(unfollow.result.user).toMatchObject({ viewerFollows: false, followerCount: 0 })
  const blocked = await ask('app-alice', operations.AddBlockDocument, { input: bob })
  expect(blocked.result.user).toMatchObject({ viewerHasBlocked: true, followerCount: null })
  const unblocked = await ask('app-alice', operations.RemoveBlockDocument, { input: bob })
  expect(unblocked.result.user).toMatchObject({ viewerHasBlocked: false, followerCount: 0 })
  const { viewer } = await ask('app-alice', operations.SessionDocument)
  expect(viewer).toMatchObject({ user: { followingCount: 0 }, groups: { edges: [] } })
})

test('an app suggests followees of followees, and a profile names the followees in common', async () => {
  await open('app-ann', 'app-ben', 'app-cleo', 'app-new')
  const follow = (reader: string, handle: string) =>
    ask(reader, operations.AddFollowDocument, { input: { user: { handle } } })
  await follow('app-ann', 'app-ben')
  await follow('app-ben', 'app-cleo')
  const { viewer } = await ask('app-ann', operations.SuggestionsDocument, {
    guide: 'no-one',
  })
  expect(viewer?.suggestions.edges).toMatchObject([
    { commonCount: 1, node: { handle: 'app-cleo', viewerFollows: false } },
  ])
  const forNew = await ask('app-new', operations.SuggestionsDocument, { guide: 'app-ben' })
  expect(forNew).toMatchObject({
    viewer: { suggestions: { edges: [] } },
    user: { handle: 'app-ben', following: { edges: [{ node: { handle: 'app-cleo' } }] } },
  })
  await follow('app-ann', 'app-cleo')
  const { user } = await ask('app-ann', operations.ProfilePageDocument, { handle: 'app-ben' })
  expect(user?.mutuals).toMatchObject({ totalCount: 1, edges: [{ node: { handle: 'app-cleo' } }] })
})

test('this file executes every operation of its files in schema/operations', async () => {
  const names = (await readOperations(filesByTest['app-operations'])).map(({ name }) => name?.value)
  expect(names.length).toBeGreaterThan(8)
  expect(names.filter((name) => !executed.has(name ?? ''))).toEqual([])
})
