import { beforeAll, describe, expect, test } from 'vitest'
import { postNodeId, userNodeId } from '../../src/graphql/node-id.ts'
import { encodeOpaque } from '../../src/lib/opaque.ts'
import { useApp } from '../support/app.ts'
import { recorded } from '../support/mongo.ts'
import { handle, openAccounts } from '../support/services.ts'

const app = useApp({ BLOCKED_WORDS: 'spam' })
const [me, you] = [handle('me'), handle('you')]
const late = handle('late')
const tooLong = 'x'.repeat(129)
let postId = ''
beforeAll(async () => {
  await openAccounts(app.services, [me, you])
  postId = postNodeId(await app.services.posts.create(you, { text: 'yours' }))
})

/** The only error of a request that names arguments, and the commands that the request sends. */
async function refusal(query: string, variables: object = {}, as = me) {
  const { result, commands } = await recorded(app.database.client, () =>
    app.send({ as, query, variables }),
  )
  expect(result.errors).toHaveLength(1)
  const { message, extensions } = result.errors[0] as (typeof result.errors)[number]
  expect(extensions.code).toBe('BAD_USER_INPUT')
  const wrong = extensions.arguments ?? []
  expect(extensions.argument).toBe(wrong[0]?.argument)
  expect(message).toBe(wrong.map((one) => `${one.argument}: ${one.message}`).join('; '))
  // A subject without an account is not remembered.
  const sent = commands.filter(({ collection }) => collection !== 'subjects')
  return { names: wrong.map(({ argument }) => argument), wrong, commands: sent, data: result.data }
}

describe('a mutation reports every wrong argument at once, and sends no command', () => {
  const post = (input: object) => ({
    query: 'mutation ($input: CreatePostInput!) { createPost(input: $input) { post { id } } }',
    variables: { input },
  })
  const image = { url: 'https://a.example/b.png', kind: 'IMAGE' }

  test.each([
    {
      name: 'createPost',
      ...post({
        text: 'x'.repeat(301),
        attachments: [{ ...image, url: 'x', alt: 'a\u0000' }, image, { ...image, url: 'ftp://a' }],
        clientMutationId: tooLong,
      }),
      names: [
        'input.clientMutationId',
        'input.text',
        'input.attachments.0.url',
        'input.attachments.0.alt',
        'input.attachments.2.url',
      ],
    },
    {
      name: 'createPost with blocked words',
      ...post({ text: 'spam', attachments: [image, { ...image, alt: 'more spam' }] }),
      names: ['input.text', 'input.attachments.1.alt'],
    },
    {
      name: 'createUser',
      as: late,
      query: `mutation { createUser(input: { name: "", bio: "${'x'.repeat(257)}", avatarUrl: "x" }) { user { id } } }`,
      names: ['input.name', 'input.bio', 'input.avatarUrl'],
    },
    {
      name: 'updateUser',
      query: `mutation { updateUser(input: { name: null, bio: "${'x'.repeat(257)}", clientMutationId: "${tooLong}" }) { user { id } } }`,
      names: ['input.name', 'input.clientMutationId', 'input.bio'],
    },
    {
      name: 'addComment',
      query: `mutation { addComment(input: { postId: "x", text: "", clientMutationId: "${tooLong}" }) { comment { id } } }`,
      names: ['input.postId', 'input.clientMutationId', 'input.text'],
    },
    {
      name: 'likePost',
      query: `mutation { likePost(input: { postId: "x", clientMutationId: "${tooLong}" }) { clientMutationId } }`,
      names: ['input.postId', 'input.clientMutationId'],
    },
    {
      name: 'setFollowGroups',
      query:
        'mutation { setFollowGroups(input: { user: { handle: "." }, groups: ["a", "", "b", " "] }) { groups } }',
      names: ['input.user.handle', 'input.groups.1', 'input.groups.3'],
    },
    {
      name: 'deleteComment',
      query: `mutation { deleteComment(input: { commentId: "x", clientMutationId: "${tooLong}" }) { changed } }`,
      names: ['input.commentId', 'input.clientMutationId'],
    },
  ])('$name', async ({ query, names, as = me, ...rest }) => {
    const variables = 'variables' in rest ? rest.variables : {}
    const refused = await refusal(query, variables, as)
    expect(refused.names).toEqual(names)
    expect(refused.commands).toEqual([])
  })

  test('and other mutations of the request are made', async () => {
    const { names, data } = await refusal(`mutation {
      a: createPost(input: { text: "kept" }) { post { text } }
      b: addComment(input: { postId: "x", text: "" }) { comment { id } } }`)
    expect(names).toEqual(['input.postId', 'input.text'])
    expect(data).toEqual({ a: { post: { text: 'kept' } }, b: null })
  })

  test('but an anonymous request gets UNAUTHENTICATED', async () => {
    const query = 'mutation { likePost(input: { postId: "x" }) { changed } }'
    const { errors } = await app.send({ query })
    expect(errors.map(({ extensions }) => extensions.code)).toEqual(['UNAUTHENTICATED'])
  })
})

describe('a list reports every wrong argument at once', () => {
  const edges = '{ edges { cursor } }'
  const wrongEnds = 'first: -1, after: "x", before: "y"'

  test.each([
    [
      `{ timeline(${wrongEnds}, group: " ", strategy: SIZED_BUCKETS) ${edges} }`,
      ['first', 'after', 'before', 'strategy', 'group'],
    ],
    [
      '{ timelineNews(since: "x", group: " ", strategy: SIZED_BUCKETS) { count } }',
      ['since', 'strategy', 'group'],
    ],
    ['{ whyInTimeline(post: "x", group: " ") { code } }', ['post', 'group']],
    [`{ viewer { groups(${wrongEnds}) ${edges} } }`, ['first', 'after', 'before']],
    [`{ viewer { mutes(${wrongEnds}) ${edges} } }`, ['first', 'after', 'before']],
    [`{ viewer { suggestions(${wrongEnds}) ${edges} } }`, ['first', 'after', 'before']],
    [`{ timeline(first: 101, last: -1) ${edges} }`, ['first', 'last', 'last']],
  ])('without a command: %s', async (query, expected) => {
    const { names, commands } = await refusal(query)
    expect(names).toEqual(expected)
    expect(commands).toEqual([])
  })

  test.each(['followers', 'posts', 'likedPosts', 'following', 'mutuals'])(
    'of a user: %s',
    async (list) => {
      const { names } = await refusal(`{ user(handle: "you") { ${list}(${wrongEnds}) ${edges} } }`)
      expect(names).toEqual(['first', 'after', 'before'])
    },
  )

  test('of a user in a group of the viewer', async () => {
    const query = `{ user(handle: "me") { following(last: 101, after: "x", group: " ") ${edges} } }`
    expect((await refusal(query)).names).toEqual(['last', 'after', 'group'])
  })

  test('of a post', async () => {
    const query = `query ($id: ID!) { node(id: $id) { ... on Post { likes(${wrongEnds}) ${edges} } } }`
    expect((await refusal(query, { id: postId })).names).toEqual(['first', 'after', 'before'])
  })
})

test('first and last together are refused with what to do, and other fields of the page are answered', async () => {
  const query = `query Page($first: Int = 20, $last: Int) {
    timeline(first: $first, last: $last) { edges { cursor } }
    viewer { handle }
  }`
  const { wrong, data } = await refusal(query, { last: 10 })
  expect(wrong).toEqual([
    {
      argument: 'last',
      message:
        'cannot be combined with first. Send one of them, and null for the other. A default value of a variable also counts as sent',
    },
  ])
  expect(data).toEqual({ timeline: null, viewer: { handle: me } })
  const { errors } = await app.send({ as: me, query, variables: { first: null, last: 10 } })
  expect(errors).toEqual([])
})

test('many wrong arguments are listed, and the message is cut', async () => {
  const urls = Array(4).fill({ url: 'x', kind: 'IMAGE', blurhash: 'x', width: -1, height: -1 })
  const { errors } = await app.send({
    as: me,
    query: 'mutation ($input: CreatePostInput!) { createPost(input: $input) { clientMutationId } }',
    variables: { input: { text: 'x', attachments: urls } },
  })
  expect(errors[0]?.extensions.arguments).toHaveLength(16)
  expect(errors[0]?.message).toHaveLength(400)
})

describe('an id that is no id of this server', () => {
  const texts = [
    'x',
    '',
    ' ',
    'null',
    'a'.repeat(513),
    encodeOpaque('User'),
    encodeOpaque('Uszer', 'me'),
  ]

  test('is null in its place, and everything else is answered', async () => {
    const query = `query ($ids: [ID!]!, $id: ID!) {
      nodes(ids: $ids) { id } node(id: $id) { id } viewer { handle } }`
    for (const id of texts) {
      const { data, errors } = await app.send({
        as: me,
        query,
        variables: { ids: [id, postId, ...texts], id },
      })
      expect(errors).toEqual([])
      expect(data).toEqual({
        nodes: [null, { id: postId }, ...texts.map(() => null)],
        node: null,
        viewer: { handle: me },
      })
    }
  })

  test('alone sends no command', async () => {
    const query = 'query ($ids: [ID!]!) { nodes(ids: $ids) { id } }'
    const variables = { ids: texts }
    const { commands } = await recorded(app.database.client, () => app.send({ query, variables }))
    expect(commands).toEqual([])
  })

  test('of a post, or of another type, is refused where a post is asked for, and the rest is answered', async () => {
    for (const id of [...texts, userNodeId(you)]) {
      const query = 'query ($id: ID!) { post(id: $id) { id } viewer { handle } }'
      const { names, data } = await refusal(query, { id })
      expect(names).toEqual(['id'])
      expect(data).toEqual({ post: null, viewer: { handle: me } })
    }
  })
})

test('an argument that graphql-js refuses is listed too', async () => {
  const query = 'query ($handle: String = "you") { user(handle: $handle) { id } }'
  const { errors } = await app.send({ as: me, query, variables: { handle: null } })
  expect(errors[0]?.extensions).toMatchObject({
    code: 'BAD_USER_INPUT',
    argument: 'handle',
    arguments: [{ argument: 'handle', message: errors[0]?.message }],
  })
})
