import * as operations from '@feedline/client'
import { expect, test } from 'vitest'
import { type KindRow, kinds, kindsKeyedBy } from '../../src/engagement/kinds.ts'
import { errorCodes } from '../../src/errors.ts'
import { existing, useOperations } from '../support/executed-operations.ts'
import { ownEntryDocuments } from '../support/mutation-cases.ts'
import { filesByTest, readOperations } from '../support/written-operations.ts'

const { app, ask, open, follow, publish, executed } = useOperations()

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

  const emptyGroup = await ask('reader', operations.GroupTimelineDocument, { group: 'none' })
  expect(emptyGroup.timeline.edges).toEqual([])

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
  const { createPost } = await ask('poster', operations.CreatePostDocument, { input })
  const post = existing(createPost.post)
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

  const gone = { input: { commentId: existing(comment).id } }
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
    const { add, remove, viewer } = kinds[kind]
    const { public: shown }: KindRow = kinds[kind]
    const fields = [shown?.count.field, viewer?.field].flatMap((field) => field ?? [])
    const [author, fan] = [`${kind}-author`.toLowerCase(), `${kind}-fan`.toLowerCase()]
    await open(author, fan)
    const { id } = await publish(author, kind)
    const send = async (mutation: typeof add.mutation | typeof remove.mutation) =>
      (await ask(fan, ownEntryDocuments[mutation], { input: { postId: id } }))[mutation]
    const query = `{ node(id: "${id}") { ... on Post { ${fields.join(' ')} } } }`
    const state = async () => (await app.send({ as: fan, query })).data.node
    const expected = (number: number, has: boolean) => ({
      ...(shown ? { [shown.count.field]: number } : {}),
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

test('this file executes every operation of its files in schema/operations', async () => {
  const names = (await readOperations(filesByTest.operations)).map(({ name }) => name?.value)
  expect(names.length).toBeGreaterThan(8)
  expect(names.filter((name) => !executed.has(name ?? ''))).toEqual([])
})
