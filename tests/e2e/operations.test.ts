import * as operations from '@feedline/client'
import { expect, test } from 'vitest'
import { kinds, kindsKeyedBy } from '../../src/engagement/kinds.ts'
import { errorCodes } from '../../src/errors.ts'
import { viewerNodeId } from '../../src/graphql/node-id.ts'
import { useOperations } from '../support/executed-operations.ts'
import { ownEntryDocuments } from '../support/mutation-cases.ts'
import { handle } from '../support/services.ts'
import { readOperations } from '../support/written-operations.ts'

const { app, ask, open, follow, publish, executed } = useOperations()

test('an account is created, read, updated and deleted by its owner', async () => {
  const [opened] = await open('owner')
  expect(opened?.createUser.user).toMatchObject({
    handle: 'owner',
    name: 'owner by name',
    bio: 'I am owner',
    avatarUrl: 'https://pictures.example/owner',
    bannerUrl: null,
    followerCount: 0,
    followingCount: 0,
    postCount: 0,
    viewerFollows: false,
    followsViewer: false,
    viewerGroups: [],
  })
  const input = { name: 'Owner', bio: null, clientMutationId: 'renamed' }
  const { updateUser } = await ask('owner', operations.UpdateUserDocument, { input })
  expect(updateUser.clientMutationId).toBe('renamed')
  expect(updateUser.user).toEqual({ ...opened?.createUser.user, name: 'Owner', bio: null })

  const { viewer } = await ask('owner', operations.ViewerDocument)
  const id = viewerNodeId(handle('owner'))
  expect(viewer).toEqual({ id, handle: 'owner', user: updateUser.user })
  const profile = { handle: 'owner' }
  const { user } = await ask(undefined, operations.UserProfileDocument, profile)
  expect(user).toEqual(updateUser.user)

  const { deleteUser } = await ask('owner', operations.DeleteUserDocument, { input: {} })
  expect(deleteUser).toEqual({ clientMutationId: null, changed: true, handle: 'owner' })
  expect((await ask(undefined, operations.UserProfileDocument, profile)).user).toBeNull()
  expect(await ask('owner', operations.ViewerDocument)).toEqual({
    viewer: { id, handle: 'owner', user: null },
  })
})

test('an anonymous request has no viewer', async () => {
  expect(await ask(undefined, operations.ViewerDocument)).toEqual({ viewer: null })
})

test('a timeline shows the posts of followees newest first, and polling returns new posts', async () => {
  await open('reader', 'writer', 'stranger')
  await follow('reader', 'writer')
  const own = await publish('reader', 'mine')
  await publish('stranger', 'unseen')
  const theirs = await publish('writer', 'theirs')

  const { timeline } = await ask('reader', operations.TimelineDocument, { first: 20 })
  expect(timeline.strategy).toBe('FANOUT_ON_READ')
  expect(timeline.edges.map(({ node }) => node)).toEqual([
    { ...theirs, author: { ...theirs.author, viewerFollows: true } },
    own,
  ])
  const [newest, oldest] = timeline.edges
  expect(timeline.pageInfo).toEqual({
    startCursor: newest?.cursor,
    endCursor: oldest?.cursor,
    hasNextPage: false,
    hasPreviousPage: false,
  })
  const strategy = 'FANOUT_ON_READ' as const
  const page = await ask('reader', operations.TimelineDocument, { first: 1, strategy })
  expect(page.timeline.edges).toEqual([newest])
  expect(page.timeline.pageInfo.hasNextPage).toBe(true)

  const both = { one: strategy, other: strategy }
  const { one, other } = await ask('reader', operations.CompareTimelinesDocument, both)
  expect([one.edges, other.edges]).toEqual([timeline.edges, timeline.edges])
  expect(one).toMatchObject({ servedBy: strategy, pending: false })
  const why = await ask('reader', operations.WhyTimelineDocument, { post: theirs.id })
  expect(why.whyInTimeline).toMatchObject([{ code: 'FOLLOWED', since: expect.any(String) }])
  expect(why.whyNotInTimeline).toBeNull()

  const before = timeline.pollCursor ?? ''
  const poll = () => ask('reader', operations.TimelinePollDocument, { before })
  const news = () => ask('reader', operations.TimelineNewsDocument, { since: before })
  const nothing = { count: 0, hasMore: false, authors: [], changed: false }
  expect((await news()).timelineNews).toMatchObject(nothing)
  const fresh = [await publish('writer', 'newer'), await publish('writer', 'newest')]
  const authors = [{ handle: 'writer', name: 'writer by name' }]
  expect((await news()).timelineNews).toMatchObject({ ...nothing, count: 2, authors })
  expect((await poll()).timeline.edges.map(({ node }) => node?.id)).toEqual([
    ...fresh.map(({ id }) => id).reverse(),
    theirs.id,
    own.id,
  ])
})

test('a group has members, a timeline and a name', async () => {
  await open('keeper', 'friend', 'colleague')
  await follow('keeper', 'friend')
  await follow('keeper', 'colleague')
  const input = { user: { handle: 'friend' }, groups: ['close', 'art'] }
  const { setFollowGroups } = await ask('keeper', operations.SetFollowGroupsDocument, { input })
  expect(setFollowGroups.groups).toEqual(['art', 'close'])
  expect(setFollowGroups.user?.viewerGroups).toEqual(['art', 'close'])

  const of = { handle: 'keeper', group: 'close' }
  const { user } = await ask('keeper', operations.FollowingDocument, of)
  expect(user?.following.edges.map(({ node }) => node?.handle)).toEqual(['friend'])
  const all = await ask('keeper', operations.FollowingDocument, { handle: 'keeper' })
  expect(all.user?.following.edges.map(({ node }) => node?.handle)).toEqual(['colleague', 'friend'])

  await publish('colleague', 'at work')
  const post = await publish('friend', 'at home')
  const { timeline } = await ask('keeper', operations.GroupTimelineDocument, { group: 'close' })
  expect(timeline.edges.map(({ node }) => node?.id)).toEqual([post.id])
  const { viewer } = await ask('keeper', operations.ViewerGroupsDocument, { first: 100 })
  expect(viewer?.groups.edges.map(({ node }) => node?.name)).toEqual(['art', 'close'])
})

test('a follow and an unfollow show in the lists of both users', async () => {
  await open('fan', 'star')
  const { followUser } = await follow('fan', 'star')
  expect(followUser.changed).toBe(true)
  expect(followUser.user).toMatchObject({ viewerFollows: true, followerCount: 1 })
  expect((await follow('fan', 'star')).followUser.changed).toBe(false)

  const { user } = await ask('star', operations.FollowersDocument, { handle: 'star' })
  expect(user?.followers.edges).toMatchObject([
    { source: 'FEEDLINE', node: { handle: 'fan', viewerFollows: false, followingCount: 1 } },
  ])
  expect(Date.parse(user?.followers.edges[0]?.followedAt ?? '')).toBeLessThanOrEqual(Date.now())
  const seen = await ask('star', operations.UserProfileDocument, { handle: 'fan' })
  expect(seen.user?.followsViewer).toBe(true)

  const input = { user: { handle: 'star' } }
  const { unfollowUser } = await ask('fan', operations.UnfollowUserDocument, { input })
  expect(unfollowUser.changed).toBe(true)
  expect(unfollowUser.user).toMatchObject({ viewerFollows: false, followerCount: 0 })
  const after = await ask('star', operations.FollowersDocument, { handle: 'star' })
  expect(after.user?.followers.edges).toEqual([])
})

test('users in common are in the mutuals of a profile and count for a suggestion', async () => {
  await open('common-reader', 'common-writer', 'common-editor', 'common-printer')
  await follow('common-reader', 'common-writer')
  await follow('common-reader', 'common-editor')
  await follow('common-editor', 'common-writer')
  await follow('common-editor', 'common-printer')
  const { user } = await ask('common-reader', operations.MutualsDocument, {
    handle: 'common-editor',
  })
  expect(user?.mutuals).toMatchObject({
    totalCount: 1,
    edges: [{ node: { handle: 'common-writer' } }],
  })
  const { viewer } = await ask('common-reader', operations.ViewerSuggestionsDocument, { first: 20 })
  expect(viewer?.suggestions.edges).toMatchObject([
    { commonCount: 1, node: { handle: 'common-printer', viewerFollows: false } },
  ])
})

test('mutes and blocks are in the viewer’s lists until they are removed', async () => {
  await open('judge', 'noisy', 'rude')
  const noisy = { input: { user: { handle: 'noisy' } } }
  const rude = { input: { user: { handle: 'rude' } } }
  await follow('judge', 'rude')
  const { muteUser } = await ask('judge', operations.MuteUserDocument, noisy)
  expect(muteUser).toMatchObject({ changed: true, user: { viewerHasMuted: true } })
  const { blockUser } = await ask('judge', operations.BlockUserDocument, rude)
  expect(blockUser).toMatchObject({
    changed: true,
    user: { viewerHasBlocked: true, viewerFollows: false, followerCount: null },
  })
  const lists = async (handle: string) => {
    const mutes = (await ask(handle, operations.ViewerMutesDocument, { first: 100 })).viewer?.mutes
      .edges
    const blocks = (await ask(handle, operations.ViewerBlocksDocument, { first: 100 })).viewer
      ?.blocks.edges
    return [mutes, blocks].map((edges) => edges?.map(({ node }) => node?.handle))
  }
  expect(await lists('judge')).toEqual([['noisy'], ['rude']])
  expect(await lists('rude')).toEqual([[], []])

  const { unmuteUser } = await ask('judge', operations.UnmuteUserDocument, noisy)
  expect(unmuteUser).toMatchObject({ changed: true, user: { viewerHasMuted: false } })
  const { unblockUser } = await ask('judge', operations.UnblockUserDocument, rude)
  const user = { viewerHasBlocked: false, followerCount: 0 }
  expect(unblockUser).toMatchObject({ changed: true, user })
  expect(await lists('judge')).toEqual([[], []])
})

test('a post with attachments is published, found by its id, listed and deleted', async () => {
  await open('poster')
  const attachments = [
    {
      ...{ url: 'https://example.com/cat.png', kind: 'IMAGE' as const, alt: 'A cat' },
      ...{ width: 640, height: 480, blurhash: 'LEHV6nWB2yk8pyo0adR*.7kCMdnj' },
    },
    { url: 'https://example.com/', kind: 'LINK' as const },
  ]
  const input = { text: 'Look', attachments }
  const { post } = (await ask('poster', operations.CreatePostDocument, { input })).createPost
  expect(post.text).toBe('Look')
  expect(post.author.handle).toBe('poster')
  const absent = { alt: null, width: null, height: null, blurhash: null }
  expect(post.attachments).toEqual([attachments[0], { ...attachments[1], ...absent }])

  const { user } = await ask(undefined, operations.UserPostsDocument, { handle: 'poster' })
  expect(user?.posts.edges.map((edge) => edge.node)).toEqual([post])
  const { node } = await ask(undefined, operations.NodeDocument, { id: post.id })
  expect(node).toEqual({ __typename: 'Post', ...post })

  const gone = { input: { postId: post.id } }
  const { deletePost } = await ask('poster', operations.DeletePostDocument, gone)
  expect(deletePost).toMatchObject({ changed: true, deletedPostId: post.id })
  expect(await ask(undefined, operations.NodeDocument, { id: post.id })).toEqual({ node: null })
})

test('likes, shares and comments are counted, listed and removed', async () => {
  await open('idol', 'admirer', 'critic')
  const { id } = await publish('idol', 'like me')
  const input = { postId: id }
  const { likePost } = await ask('admirer', operations.LikePostDocument, { input })
  expect(likePost).toMatchObject({ changed: true, post: { likeCount: 1, viewerHasLiked: true } })
  await ask('critic', operations.LikePostDocument, { input })
  const again = await ask('admirer', operations.LikePostDocument, { input })
  expect(again.likePost.changed).toBe(false)
  const { sharePost } = await ask('admirer', operations.SharePostDocument, { input })
  expect(sharePost.post).toMatchObject({ shareCount: 1, viewerHasShared: true })
  const said = { input: { ...input, text: 'well done' } }
  const { comment } = (await ask('critic', operations.AddCommentDocument, said)).addComment
  expect(comment).toMatchObject({ text: 'well done', user: { handle: 'critic' } })

  const likers = (await ask(undefined, operations.LikesDocument, { id })).node
  const edges = ['critic', 'admirer'].map((handle) => ({ node: { user: { handle } } }))
  expect(likers).toMatchObject({ likeCount: 2, likes: { edges } })
  const { node: shares } = await ask(undefined, operations.SharesDocument, { id })
  expect(shares).toMatchObject({ shareCount: 1, shares: { edges: [{ node: {} }] } })
  const { node: talk } = await ask('admirer', operations.ConversationDocument, { id })
  expect(talk).toMatchObject({
    text: 'like me',
    commentCount: 1,
    viewerHasLiked: true,
    comments: { edges: [{ node: comment }] },
  })
  const { user } = await ask('idol', operations.LikedPostsDocument, { handle: 'admirer' })
  expect(user?.likedPosts.edges).toMatchObject([{ node: { id, likeCount: 2 } }])

  const gone = { input: { commentId: comment.id } }
  const { deleteComment } = await ask('idol', operations.DeleteCommentDocument, gone)
  expect(deleteComment).toMatchObject({ changed: true, post: { commentCount: 0 } })
  const { unlikePost } = await ask('admirer', operations.UnlikePostDocument, { input })
  expect(unlikePost).toMatchObject({ changed: true, post: { likeCount: 1, viewerHasLiked: false } })
  const { unsharePost } = await ask('admirer', operations.UnsharePostDocument, { input })
  expect(unsharePost).toMatchObject({ changed: true, post: { shareCount: 0 } })
  const none = await ask('idol', operations.LikedPostsDocument, { handle: 'admirer' })
  expect(none.user?.likedPosts.edges).toEqual([])
})

test.each(kindsKeyedBy('actor'))(
  '%s are added and removed once, and the count and the viewer field follow',
  async (kind) => {
    const { add, remove, count, viewer } = kinds[kind]
    const [author, fan] = [`${kind}-author`.toLowerCase(), `${kind}-fan`.toLowerCase()]
    await open(author, fan)
    const { id } = await publish(author, kind)
    const send = async (mutation: typeof add.mutation | typeof remove.mutation) =>
      (await ask(fan, ownEntryDocuments[mutation], { input: { postId: id } }))[mutation]
    const query = `{ node(id: "${id}") { ... on Post { ${count.field} ${viewer?.field ?? ''} } } }`
    const state = async () => (await app.send({ as: fan, query })).data.node
    const expected = (number: number, has: boolean) => ({
      [count.field]: number,
      ...(viewer ? { [viewer.field]: has } : {}),
    })
    for (const changed of [true, false]) {
      expect(await send(add.mutation)).toMatchObject({ changed })
      expect(await state()).toEqual(expected(1, true))
    }
    for (const changed of [true, false]) {
      expect(await send(remove.mutation)).toMatchObject({ changed })
      expect(await state()).toEqual(expected(0, false))
    }
  },
)

test('nodes are returned in the requested order, with null for deleted objects', async () => {
  const [one, other] = await open('one', 'other')
  const [kept, gone] = [await publish('one', 'kept'), await publish('one', 'gone')]
  await ask('one', operations.DeletePostDocument, { input: { postId: gone.id } })
  const [user, second] = [one?.createUser.user, other?.createUser.user]
  const ids = [second?.id ?? '', gone.id, kept.id, user?.id ?? '', kept.id]
  const { nodes } = await ask('one', operations.NodesDocument, { ids })
  expect(nodes).toMatchObject([
    { __typename: 'User', handle: 'other', name: 'other by name' },
    null,
    { __typename: 'Post', text: 'kept', author: { handle: 'one' } },
    { __typename: 'User', handle: 'one' },
    { __typename: 'Post', id: kept.id },
  ])
  const { node } = await ask('one', operations.NodeDocument, { id: user?.id ?? '' })
  expect(node).toMatchObject({ __typename: 'User', ...user, postCount: 1 })
})

test('an app reads and writes its pages with the documents of its own', async () => {
  await open('app-alice', 'app-bob')
  const bob = { user: { handle: 'app-bob' } }
  const follow = await ask('app-alice', operations.AddFollowDocument, { input: bob })
  expect(follow.result).toMatchObject({ user: { viewerFollows: true, followerCount: 1 } })
  const published = await ask('app-bob', operations.PublishPostDocument, { input: { text: 'new' } })
  const post = published.createPost.timelineEdge.node
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
    comments: { edges: [{ node: { id: addComment.commentEdge.node?.id, text: 'yes' } }] },
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

test('every error code has a meaning in errorMeaning', async () => {
  for (const code of Object.keys(errorCodes) as (keyof typeof errorCodes)[]) {
    const { errorMeaning } = await ask(undefined, operations.ErrorMeaningDocument, { code })
    expect(errorMeaning).toBe(errorCodes[code].meaning)
  }
})

test('limits are positive numbers', async () => {
  const { limits } = await ask(undefined, operations.LimitsDocument)
  expect(Object.values(limits).filter((value) => !(value > 0))).toEqual([])
})

test('a server outside production has no rate limit', async () => {
  expect(await ask(undefined, operations.RateLimitDocument)).toEqual({ rateLimit: null })
})

test('this file executes every operation of schema/operations', async () => {
  const names = (await readOperations()).map(({ name }) => name?.value)
  expect(names.length).toBeGreaterThan(20)
  expect([...executed].sort()).toEqual(names.sort())
})
