import { beforeAll, describe, expect, test } from 'vitest'
import { postNodeId, userNodeId } from '../../src/graphql/node-id.ts'
import type { PostRef } from '../../src/lib/ids.ts'
import { useApp } from '../support/app.ts'
import { labelsOf } from '../support/commands.ts'
import { recorded } from '../support/mongo.ts'
import { handle, openAccounts } from '../support/services.ts'

const app = useApp()
const [me, you, third] = [handle('me'), handle('you'), handle('third')]
let post: PostRef
beforeAll(async () => {
  await openAccounts(app.services, [me, you, third])
  post = await app.services.posts.create(you, { text: 'yours' })
})

async function run(query: string, variables = {}) {
  const { data, errors } = await app.send({ as: me, query, variables })
  expect(errors).toEqual([])
  return data
}

const mutate = async (fields: string) => run(`mutation { ${fields} }`)

describe('a user in an input', () => {
  const follow = (user: object) =>
    app.send({
      as: me,
      query:
        'mutation ($user: UserRef!) { followUser(input: { user: $user }) { user { handle } } }',
      variables: { user },
    })

  test.each([
    { handle: 'you' },
    { handle: '@you' },
    { handle: 'YOU' },
    { handle: '@You' },
    { id: userNodeId(handle('you')) },
  ])('%j names the user', async (user) => {
    const { data, errors } = await follow(user)
    expect(errors).toEqual([])
    expect(data.followUser.user.handle).toBe(you)
  })

  test.each([
    [{ handle: '@@you' }, 'input.user.handle'],
    [{ handle: '' }, 'input.user.handle'],
    // The Kelvin sign, which is "k" in lower case.
    [{ handle: '\u212a' }, 'input.user.handle'],
    [{ id: 'you' }, 'input.user.id'],
  ])('%j is refused', async (user, argument) => {
    const { data, errors } = await follow(user)
    expect(data).toEqual({ followUser: null })
    expect(errors[0]?.extensions).toMatchObject({ code: 'BAD_USER_INPUT', argument })
  })

  test('the id of a post names no user', async () => {
    const { errors } = await follow({ id: postNodeId(post) })
    expect(errors[0]?.message).toBe('input.user.id: is not the id of a user')
  })

  test.each([{}, { handle: 'you', id: userNodeId(handle('you')) }, { handle: null }])(
    '%j does not set exactly one field, and the request is refused',
    async (user) => {
      const { data, errors } = await follow(user)
      expect(data).toBeUndefined()
      expect(errors[0]?.extensions.code).toBe('BAD_USER_INPUT')
    },
  )

  test('a repeat with the same clientMutationId may name the user in another way', async () => {
    const mute = (user: string) =>
      mutate(`muteUser(input: { user: ${user}, clientMutationId: "mute" }) { changed }`)
    const first = await mute('{ handle: "third" }')
    expect(first).toEqual({ muteUser: { changed: true } })
    expect(await mute(`{ id: "${userNodeId(third)}" }`)).toEqual(first)
    expect(await mute('{ handle: "@Third" }')).toEqual(first)
  })
})

describe('the viewer', () => {
  const node = 'query ($id: ID!) { node(id: $id) { __typename id ... on Viewer { handle } } }'

  test('has a global id, by which the node query answers it to its owner alone', async () => {
    const { viewer } = await run('{ viewer { id } }')
    const asOwner = await run(node, viewer)
    expect(asOwner).toEqual({ node: { __typename: 'Viewer', ...viewer, handle: me } })
    for (const as of [you, undefined]) {
      const { data, errors } = await app.send({ as, query: node, variables: viewer })
      expect(errors).toEqual([])
      expect(data).toEqual({ node: null })
    }
  })

  test('shows its own counts after each mutation that changes them', async () => {
    const counts = 'viewer { id user { followerCount followingCount postCount } }'
    await app.services.follows.follow(third, me)
    await app.services.follows.follow(me, you)
    const data = await mutate(`
      a: unfollowUser(input: { user: { handle: "you" } }) { ${counts} }
      b: followUser(input: { user: { handle: "you" } }) { ${counts} }
      c: blockUser(input: { user: { handle: "third" } }) { ${counts} }
      d: unblockUser(input: { user: { handle: "third" } }) { ${counts} }
      e: createPost(input: { text: "mine" }) { post { id } ${counts} }`)
    const { deletePost } = await mutate(
      `deletePost(input: { postId: "${data.e.post.id}" }) { ${counts} }`,
    )
    const { id } = data.a.viewer
    const viewer = (followerCount: number, followingCount: number, postCount: number) => {
      return { viewer: { id, user: { followerCount, followingCount, postCount } } }
    }
    expect(data).toEqual({
      a: viewer(1, 0, 0),
      b: viewer(1, 1, 0),
      c: viewer(0, 1, 0),
      d: viewer(0, 1, 0),
      e: { post: data.e.post, ...viewer(0, 1, 1) },
    })
    expect(deletePost).toEqual(viewer(0, 1, 0))
  })

  test('has no user after deleteUser, and its user after createUser and updateUser', async () => {
    const query = `mutation {
      a: deleteUser(input: {}) { viewer { handle user { name } } } }`
    const later = handle('later')
    const create = `mutation { createUser(input: { name: "Later" }) { viewer { user { name } } } }`
    const rename = `mutation { updateUser(input: { name: "Now" }) { viewer { user { name } } } }`
    const created = await app.send({ as: later, query: create })
    expect(created.data).toEqual({ createUser: { viewer: { user: { name: 'Later' } } } })
    const renamed = await app.send({ as: later, query: rename })
    expect(renamed.data).toEqual({ updateUser: { viewer: { user: { name: 'Now' } } } })
    const { data } = await app.send({ as: later, query })
    expect(data).toEqual({ a: { viewer: { handle: null, user: null } } })
  })
})

describe('an edge in a payload', () => {
  test('of a post is the edge of the timeline, also for a repeat', async () => {
    const create = `createPost(input: { text: "first", clientMutationId: "edge" }) {
      post { id } timelineEdge { cursor node { id text author { handle } viewerHasLiked } } }`
    const { createPost } = await mutate(create)
    const { timeline } = await run(
      '{ timeline(first: 1) { edges { cursor node { id text author { handle } viewerHasLiked } } } }',
    )
    expect(timeline.edges).toEqual([createPost.timelineEdge])
    expect(createPost.timelineEdge.node.id).toBe(createPost.post.id)
    expect(await mutate(create)).toEqual({ createPost })
    const { cursor } = createPost.timelineEdge
    const newer = await run(`{ timeline(last: 5, before: "${cursor}") { edges { cursor } } }`)
    expect(newer.timeline.edges).toEqual([])
  })

  test.each([
    ['like', 'likePost', 'likes', 'viewerHasLiked', 'unlikePost', 'deletedLikeId'],
    ['share', 'sharePost', 'shares', 'viewerHasShared', 'unsharePost', 'deletedShareId'],
  ])(
    'of a %s is the edge of its list, and its id is in the payload that removes it',
    async (noun, add, list, flag, remove, deletedId) => {
      const input = `input: { postId: "${postNodeId(post)}" }`
      const fields = 'cursor node { id createdAt user { handle } post { id } }'
      const added = await mutate(
        `${add}(${input}) { changed ${noun}Edge { ${fields} } post { ${flag} } }`,
      )
      const page = `{ node(id: "${postNodeId(post)}") { ... on Post { ${list}(first: 1) { edges { ${fields} } } } } }`
      const edge = added[add][`${noun}Edge`]
      expect((await run(page)).node[list].edges).toEqual([edge])
      expect(added[add]).toMatchObject({ changed: true, post: { [flag]: true } })
      const again = await mutate(`${add}(${input}) { changed ${noun}Edge { ${fields} } }`)
      expect(again).toEqual({ [add]: { changed: false, [`${noun}Edge`]: edge } })
      const removed = await mutate(`${remove}(${input}) { changed ${deletedId} post { ${flag} } }`)
      const expected = { [deletedId]: edge.node.id, post: { [flag]: false } }
      expect(removed).toEqual({ [remove]: { changed: true, ...expected } })
      const repeated = await mutate(`${remove}(${input}) { changed ${deletedId} post { ${flag} } }`)
      expect(repeated).toEqual({ [remove]: { changed: false, ...expected } })
      expect((await run(`{ node(id: "${edge.node.id}") { id } }`)).node).toBeNull()
    },
  )

  test('of a comment is the edge of its list, with the post after the comment', async () => {
    const fields = 'cursor node { id text user { handle } }'
    const { addComment } = await mutate(
      `addComment(input: { postId: "${postNodeId(post)}", text: "so" }) {
        comment { id } commentEdge { ${fields} } post { id commentCount } }`,
    )
    const { node } = await run(
      `{ node(id: "${postNodeId(post)}") { ... on Post { comments(first: 1) { edges { ${fields} } } } } }`,
    )
    expect(node.comments.edges).toEqual([addComment.commentEdge])
    expect(addComment.comment.id).toBe(addComment.commentEdge.node.id)
    expect(addComment.post).toEqual({ id: postNodeId(post), commentCount: 1 })
  })
})

describe.each(['__typename', 'id @include(if: false)'])(
  'an object of which only %s is selected is not null',
  (some) => {
    const input = () => `input: { postId: "${postNodeId(post)}" }`
    const other = 'input: { user: { handle: "you" } }'
    const isSome = expect.any(Object)

    test.each([
      ['likePost', 'likeEdge'],
      ['sharePost', 'shareEdge'],
    ])('%s', async (name, edge) => {
      const data = await mutate(
        `${name}(${input()}) { ${edge} { node { ${some} } } post { ${some} } }`,
      )
      expect(data).toEqual({ [name]: { [edge]: { node: isSome }, post: isSome } })
    })

    test('addComment', async () => {
      const { addComment } = await mutate(`
        addComment(input: { postId: "${postNodeId(post)}", text: "a" }) {
          comment { ${some} } commentEdge { node { ${some} } } post { ${some} } }`)
      const node = isSome
      expect(addComment).toEqual({ comment: node, commentEdge: { node }, post: isSome })
    })

    test('followUser, createPost, updateUser', async () => {
      const data = await mutate(`
        followUser(${other}) { user { ${some} } viewer { ${some} } }
        createPost(input: { text: "b" }) { post { ${some} } timelineEdge { node { ${some} } } }
        updateUser(input: { name: "c" }) { user { ${some} } }`)
      expect(data).toEqual({
        followUser: { user: isSome, viewer: isSome },
        createPost: { post: isSome, timelineEdge: { node: isSome } },
        updateUser: { user: isSome },
      })
    })

    test('the users and posts of queries', async () => {
      const data = await run(`{
        user(handle: "you") { ${some} } none: user(handle: "none") { ${some} }
        viewer { user { ${some} } } post(id: "${postNodeId(post)}") { ${some} } }`)
      expect(data).toEqual({
        ...{ user: isSome, none: null, viewer: { user: isSome }, post: isSome },
      })
    })
  },
)

describe('the parts of a payload that need no data cost no command', () => {
  const input = () => `input: { postId: "${postNodeId(post)}" }`
  const commandsOf = async (fields: string) =>
    labelsOf((await recorded(app.database.client, () => mutate(fields))).commands)

  test.each([
    ['followUser', '{ changed viewer { id roles } }'],
    ['createPost', '{ post { id } timelineEdge { cursor node { id } } viewer { id } }'],
    ['likePost', '{ likeEdge { cursor node { id createdAt } } }'],
    ['unlikePost', '{ deletedLikeId }'],
  ])('%s %s', async (name, extra) => {
    const call = (selection: string) => {
      if (name === 'followUser')
        return `followUser(input: { user: { handle: "you" } }) ${selection}`
      if (name === 'createPost') return `createPost(input: { text: "x" }) ${selection}`
      return `${name}(${input()}) ${selection}`
    }
    // The same state before both.
    const reset = async () => {
      await app.services.follows.unfollow(me, you)
      const does = name === 'unlikePost' ? 'add' : 'remove'
      await app.services.engagements[does]('likes', me, post)
    }
    // Memory holds the accounts and the blocks afterwards.
    await reset()
    await commandsOf(call('{ clientMutationId }'))
    await reset()
    const plain = await commandsOf(call('{ clientMutationId }'))
    await reset()
    expect(await commandsOf(call(extra))).toEqual(plain)
  })
})
