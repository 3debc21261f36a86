import { beforeAll, expect, test } from 'vitest'
import { engagementNodeId, postNodeId } from '../../src/graphql/node-id.ts'
import type { PostRef } from '../../src/lib/ids.ts'
import { useApp } from '../support/app.ts'
import { handle, namesOf } from '../support/services.ts'

const app = useApp()
const [author, commenter, reader] = [handle('author'), handle('commenter'), handle('reader')]
let post: PostRef
let commentId: string

beforeAll(async () => {
  const { users, posts, engagements } = app.services
  for (const one of [author, commenter, reader])
    await users.create(one, { ...namesOf(one), name: one })
  post = await posts.create(author, { text: 'a post' })
  const { entry } = await engagements.add('comments', commenter, post, { text: 'a comment' })
  commentId = engagementNodeId({ kind: 'comments', post, key: entry.id })
})

const query = () => `{
  post(id: "${postNodeId(post)}") { viewerCanDelete comments { edges { node { viewerCanDelete } } } }
  user(handle: "author") { isViewer viewerCanFollow } }`

test.each([
  ['the author', author, { post: true, comment: true, isViewer: true, canFollow: false }],
  ['the commenter', commenter, { post: false, comment: true, isViewer: false, canFollow: true }],
  ['a reader', reader, { post: false, comment: false, isViewer: false, canFollow: true }],
  ['an anonymous', undefined, { post: false, comment: false, isViewer: false, canFollow: false }],
])('%s reads what the viewer may do', async (_, as, expected) => {
  const { data, errors } = await app.send({ as, query: query() })
  expect(errors).toEqual([])
  expect({
    post: data.post.viewerCanDelete,
    comment: data.post.comments.edges[0].node.viewerCanDelete,
    isViewer: data.user.isViewer,
    canFollow: data.user.viewerCanFollow,
  }).toEqual(expected)
})

test('viewerCanDelete agrees with what deletePost and deleteComment accept', async () => {
  const attempts = `mutation { deletePost(input: { postId: "${postNodeId(post)}" }) { changed }
    deleteComment(input: { commentId: "${commentId}" }) { changed } }`
  const refused = await app.send({ as: reader, query: attempts })
  expect(refused.errors.map(({ extensions }) => extensions.code)).toEqual([
    'FORBIDDEN',
    'FORBIDDEN',
  ])
  const comment = `mutation { deleteComment(input: { commentId: "${commentId}" }) { changed } }`
  const { data } = await app.send({ as: author, query: comment })
  expect(data.deleteComment).toEqual({ changed: true })
})

test('viewerCanFollow is false for both users of a block, as followUser refuses them', async () => {
  await app.services.restrictions.block(author, reader)
  const answer = await app.send({
    as: reader,
    query: '{ user(handle: "author") { viewerCanFollow } }',
  })
  expect(answer.data.user).toEqual({ viewerCanFollow: false })
  const other = await app.send({
    as: author,
    query: '{ user(handle: "reader") { viewerCanFollow } }',
  })
  expect(other.data.user).toEqual({ viewerCanFollow: false })
})

test('viewerCanFollow is also true for a followee', async () => {
  await app.services.follows.follow(commenter, author)
  const fields = '{ user(handle: "author") { viewerFollows viewerCanFollow } }'
  const { data } = await app.send({ as: commenter, query: fields })
  expect(data.user).toEqual({ viewerFollows: true, viewerCanFollow: true })
})

test('post is null for a deleted post, for another author, and after a block', async () => {
  const read = async (as: string | undefined, id: string) =>
    (await app.send({ as, query: `{ post(id: "${id}") { text } }` })).data.post
  expect(await read(commenter, postNodeId(post))).toEqual({ text: 'a post' })
  expect(await read(commenter, postNodeId({ ...post, author: commenter }))).toBeNull()
  expect(await read(reader, postNodeId(post))).toBeNull()
  expect(await read(undefined, postNodeId(post))).toEqual({ text: 'a post' })
  await app.services.posts.delete(author, post)
  expect(await read(commenter, postNodeId(post))).toBeNull()
})

test.each(['author', '@author', 'AUTHOR', '@Author'])(
  'the handle %s names the user',
  async (name) => {
    const { data } = await app.send({ query: `{ user(handle: "${name}") { handle } }` })
    expect(data.user).toEqual({ handle: 'author' })
  },
)
