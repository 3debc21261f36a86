import { beforeAll, describe, expect, test, vi } from 'vitest'
import { toObjectId } from '../../src/db/object-id.ts'
import type { Leaves } from '../../src/entities/leaves.ts'
import type { PostLeaves } from '../../src/entities/post.ts'
import { parsePostNodeId } from '../../src/graphql/node-id.ts'
import { feedStrategyNames } from '../../src/timeline/strategies/list.ts'
import { type Facts, rulesFor, type Subject } from '../../src/visibility/rules.ts'
import { useApp } from '../support/app.ts'
import { handle, openAccounts } from '../support/services.ts'

// One row each: all else about these fields must derive from it.
const trial = await vi.hoisted(async () => {
  const { badInput } = await import('../../src/errors.ts')
  const language = (argument: string, given: string) => {
    if (/^[a-z]{2}$/.test(given)) return given
    throw badInput(argument, 'must be two letters')
  }
  const asGiven = <Value>(_argument: string, given: Value) => given
  return {
    post: {
      language: {
        type: 'text',
        description: 'The language of the post.',
        given: { description: 'The language of the post', check: language },
      },
      warning: {
        type: 'text',
        description: 'What the post is about.',
        given: { description: 'What the post is about', check: asGiven },
      },
      isSensitive: {
        type: 'flag',
        fact: { whenMalformed: true },
        description: 'Whether a client asks before it shows the post.',
        given: { description: 'Whether a client asks before it shows the post', check: asGiven },
      },
      editedAt: { type: 'time', description: 'When the post was changed.' },
    },
    account: {
      pronouns: {
        type: 'text',
        description: 'How to speak of the user.',
        given: { description: 'How to speak of the user', check: asGiven },
      },
      isBot: {
        type: 'flag',
        description: 'Whether a program writes the posts.',
        given: { description: 'Whether a program writes the posts', check: asGiven },
      },
    },
  } as const satisfies { readonly post: PostLeaves; readonly account: Leaves }
})
vi.mock('../../src/entities/post.ts', async (load) => {
  const { postLeaves, ...rest } = await load<typeof import('../../src/entities/post.ts')>()
  return { ...rest, postLeaves: { ...postLeaves, ...trial.post } }
})
vi.mock('../../src/entities/account.ts', async (load) => {
  const { profileLeaves, ...rest } = await load<typeof import('../../src/entities/account.ts')>()
  const accountFacts = { isPrivate: { type: 'flag', whenMalformed: true } }
  return { ...rest, profileLeaves: { ...profileLeaves, ...trial.account }, accountFacts }
})

const app = useApp({ BLOCKED_WORDS: 'spam', FEED_MAINTAINED: feedStrategyNames.join(',') })
const author = handle('author')
const reader = handle('reader')
beforeAll(async () => {
  await openAccounts(app.services, [author, reader])
  await app.services.follows.follow(reader, author)
})

const postFields = 'id text language warning isSensitive editedAt author { pronouns isBot }'
const send = async (as: string, query: string, variables: object = {}) => {
  const { data, errors } = await app.send({ as, query, variables })
  expect(errors).toEqual([])
  return data
}
const create = async (input: object) => {
  const query = `mutation ($input: CreatePostInput!) { createPost(input: $input) { post { ${postFields} } } }`
  return (await send(author, query, { input })).createPost.post
}
/** The filter of a post by its global id. */
const named = (globalId: string) => {
  const { author: by, id } = parsePostNodeId('id', globalId)
  return { author: by, _id: toObjectId(id) }
}
const newest = async (strategy: string) => {
  const query = `{ timeline(strategy: ${strategy}, first: 1) { edges { node { ${postFields} } } } }`
  return (await send(reader, query)).timeline.edges[0].node
}
const update = (input: string) =>
  send(author, `mutation { updateUser(input: {${input}}) { user { pronouns isBot bio } } }`)

test('a row of the table of accounts is written, read, kept when absent, and removed by an empty value', async () => {
  const written = { pronouns: 'they', isBot: true, bio: null }
  expect((await update('pronouns: "they", isBot: true')).updateUser.user).toEqual(written)
  expect((await update('bio: "here"')).updateUser.user).toEqual({ ...written, bio: 'here' })
  const read = `{ user(handle: "${author}") { pronouns isBot } }`
  expect((await send(reader, read)).user).toEqual({ pronouns: 'they', isBot: true })
  expect((await update('pronouns: "", bio: ""')).updateUser.user).toEqual({
    ...{ pronouns: null, isBot: true, bio: null },
  })
  const query = `mutation { createUser(input: {name: "Newcomer", pronouns: "she"}) { user { pronouns isBot } } }`
  expect((await send('newcomer', query)).createUser.user).toEqual({ pronouns: 'she', isBot: null })
})

test('a block hides a row of the table of accounts', async () => {
  await update('pronouns: "they"')
  await openAccounts(app.services, [handle('blocker')])
  await app.services.restrictions.block(handle('blocker'), author)
  const read = `{ user(handle: "${author}") { pronouns } }`
  expect((await send('blocker', read)).user).toEqual({ pronouns: null })
})

describe.each(feedStrategyNames)('in a timeline of %s', (strategy) => {
  test('rows of the table of posts are shown as they were written', async () => {
    await update('pronouns: "they", isBot: true')
    const input = { text: strategy, language: 'cy', warning: 'a bird', isSensitive: true }
    const post = await create(input)
    const by = { pronouns: 'they', isBot: true }
    expect(post).toEqual({ id: post.id, ...input, editedAt: null, author: by })
    await app.rest()
    expect(await newest(strategy)).toEqual(post)
    const bare = await create({ text: `${strategy} alone`, warning: '' })
    const none = { language: null, warning: null, isSensitive: null, editedAt: null }
    expect(bare).toEqual({ id: bare.id, text: `${strategy} alone`, ...none, author: by })
    await app.rest()
    expect(await newest(strategy)).toEqual(bare)
  })
})

test('a page from memory is rendered with the rows, and a change of one by another process is in the next page', async () => {
  const { id } = await create({ text: 'kept', language: 'cy' })
  const editedAt = new Date('2026-01-02T03:04:05.006Z')
  const render = vi.spyOn(app.services.keptPosts, 'renderOnce')
  await newest('FANOUT_ON_READ')
  expect(await newest('FANOUT_ON_READ')).toMatchObject({ id, language: 'cy', editedAt: null })
  expect(render).toHaveBeenCalled()
  await app.services.collections.posts.updateOne(named(id), { $set: { editedAt } as object })
  expect(await newest('FANOUT_ON_READ')).toMatchObject({ id, editedAt: editedAt.toISOString() })
})

test('a wrong value names the argument, changes nothing, and validators see each text', async () => {
  const before = await app.services.collections.posts.countDocuments()
  const refused = async (fields: string) => {
    const query = `mutation { createPost(input: {text: "x", ${fields}}) { post { id } } }`
    return (await app.send({ as: author, query })).errors.map(({ extensions }) => extensions)
  }
  expect(await refused('language: "long"')).toMatchObject([
    { code: 'BAD_USER_INPUT', argument: 'input.language' },
  ])
  expect(await refused('warning: "spam"')).toMatchObject([
    { code: 'BAD_USER_INPUT', argument: 'input.warning' },
  ])
  expect(await app.services.collections.posts.countDocuments()).toBe(before)
})

test('a post with a value of another shape has no content', async () => {
  const good = await create({ text: 'good' })
  const { id } = await create({ text: 'malformed', language: 'cy' })
  await app.services.collections.posts.updateOne(named(id), { $set: { language: 5 } as object })
  const query = `query ($id: ID!) { node(id: $id) { id } timeline(strategy: FANOUT_ON_READ, first: 2) { edges { node { text } } } }`
  const { timeline } = await send(reader, query, { id })
  const texts = timeline.edges.map((edge: { node: { text: string } | null }) => edge.node?.text)
  expect(texts).toContain(good.text)
  expect(texts).not.toContain('malformed')
})

test('a stored time beyond those of JavaScript is no value', async () => {
  const { id } = await create({ text: 'far' })
  const editedAt = { $toDate: { $toLong: '9223372036854775807' } }
  await app.services.collections.posts.updateOne(named(id), [{ $set: { editedAt } }])
  expect(await newest('FANOUT_ON_READ')).toMatchObject({ id, editedAt: null })
})

/** How often a reader sees a post, and whether a like changes it. */
async function seen({ id }: { readonly id: string }) {
  const timelines = feedStrategyNames.map(
    (strategy) =>
      `${strategy}: timeline(strategy: ${strategy}, first: 1) { edges { node { id } } }`,
  )
  const query = `query ($id: ID!) {
    node(id: $id) { id }
    user(handle: "${author}") { posts(first: 1) { edges { node { id } } } }
    ${timelines.join(' ')}
  }`
  const times = JSON.stringify(await send(reader, query, { id })).split(`"${id}"`).length - 1
  const likePost = `mutation ($id: ID!) { likePost(input: {postId: $id}) { changed } }`
  const { data, errors } = await app.send({ as: reader, query: likePost, variables: { id } })
  const like = data?.likePost?.changed ?? errors[0]?.extensions.code
  return { times, like }
}
const shown = feedStrategyNames.length + 2

/** Does something while the table of rules has a further row. */
async function withRule(hides: (subject: Subject, facts: Facts) => boolean, run: () => unknown) {
  const purposes = ['TIMELINE', 'AUTHOR', 'POST', 'PERSON', 'LISTS'] as const
  const tables = purposes.map((purpose) => rulesFor(purpose) as unknown[])
  const facts = ['live', 'posts']
  const rule = { facts, hides: (_: unknown, subject: Subject, all: Facts) => hides(subject, all) }
  for (const rows of tables) rows.push(['TRIAL', rule])
  try {
    await run()
  } finally {
    for (const rows of tables) rows.pop()
  }
}
const isSensitive = ({ post }: Subject, { posts }: Facts) =>
  post !== undefined &&
  (posts?.get(post) as { isSensitive?: boolean } | undefined)?.isSensitive === true

test.each([
  ['its value', true],
  ['a malformed value', 'yes'],
])(
  'a fact about a post hides it by %s in every list, until another process changes it',
  async (_, value) => {
    const post = await create({ text: `asked about ${value}`, isSensitive: true })
    await app.rest()
    const { posts } = app.services.collections
    await posts.updateOne(named(post.id), { $set: { isSensitive: value } as object })
    await withRule(isSensitive, async () => {
      expect(await seen(post)).toEqual({ times: 0, like: 'NOT_FOUND' })
      await posts.updateOne(named(post.id), { $set: { isSensitive: false } as object })
      expect(await seen(post)).toEqual({ times: shown, like: true })
    })
  },
)

test.each([
  ['its value', true],
  ['a malformed value', 1],
])('a fact about an account hides it by %s, until another process changes it', async (_, value) => {
  const post = await create({ text: `of an account with ${value}` })
  await app.rest()
  const isPrivate = ({ user }: Subject, { live }: Facts) =>
    (live.get(user) as { isPrivate?: boolean } | undefined)?.isPrivate === true
  const { user_stats } = app.services.collections
  await withRule(isPrivate, async () => {
    await user_stats.updateOne({ _id: author }, { $set: { isPrivate: value } as object })
    expect(await seen(post)).toEqual({ times: 0, like: 'NOT_FOUND' })
    await user_stats.updateOne({ _id: author }, [{ $unset: 'isPrivate' }])
    expect(await seen(post)).toEqual({ times: shown, like: true })
  })
})
