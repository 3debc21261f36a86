import { beforeAll, expect, test } from 'vitest'
import { toObjectId } from '../../src/db/object-id.ts'
import { commandPrice } from '../../src/graphql/prices.ts'
import { type Handle, IdMint, type PostId, type UserId } from '../../src/lib/ids.ts'
import { findFacets } from '../../src/posts/facets.ts'
import { useApp } from '../support/app.ts'
import { labelsOf } from '../support/commands.ts'
import { recorded } from '../support/mongo.ts'
import { handle, openAccounts } from '../support/services.ts'

const app = useApp({ FEED_STRATEGY: 'INBOX' })
const [ann, bob, cat] = [handle('ann'), handle('bob'), handle('cat')]
const facets = 'facets { start end kind handle tag url user { handle name } }'
const text = '👩‍👩‍👧‍👦 @Bob e\u0301 #日本 @nobody https://example.com/a.'
/** Of the text in NFC. The family is seven code points. */
const expected = [
  { start: 8, end: 12, kind: 'MENTION', handle: 'bob', user: { handle: 'bob', name: 'bob' } },
  { start: 15, end: 18, kind: 'HASHTAG', tag: '日本' },
  { start: 19, end: 26, kind: 'MENTION', handle: 'nobody' },
  { start: 27, end: 48, kind: 'LINK', url: 'https://example.com/a' },
].map((facet) => ({ ...{ handle: null, tag: null, url: null, user: null }, ...facet }))
let post = ''

const ask = async (as: string | undefined, query: string, variables: object = {}) => {
  const { data, errors, extensions } = await app.send({ as, query, variables })
  expect(errors).toEqual([])
  return { data, cost: extensions?.cost.requested as number }
}
const create = async (as: string, input: object) =>
  (
    await ask(
      as,
      `mutation ($input: CreatePostInput!) { createPost(input: $input) { post { id ${facets} } } }`,
      { input },
    )
  ).data.createPost.post
const comment = async (as: string, input: object) =>
  (
    await ask(
      as,
      `mutation ($input: AddCommentInput!) { addComment(input: $input) { comment { ${facets} } } }`,
      { input },
    )
  ).data.addComment.comment
const read = async (as?: string) => {
  const query = `query ($id: ID!) { post(id: $id) { ${facets} comments { edges { node { ${facets} } } } } }`
  const { post: found } = (await ask(as, query, { id: post })).data
  return [
    found.facets,
    ...found.comments.edges.map(({ node }: { node: { facets: unknown } }) => node.facets),
  ]
}

beforeAll(async () => {
  await openAccounts(app.services, [ann, bob, cat])
  const created = await create(ann, { text, clientMutationId: 'once' })
  post = created.id
  expect(created.facets).toEqual(expected)
  expect(await create(ann, { text, clientMutationId: 'once' })).toEqual(created)
  expect((await comment(cat, { postId: post, text })).facets).toEqual(expected)
})

test('the facets of a post and a comment are stored, and read in code points of the stored text', async () => {
  const { posts } = app.services.collections
  const stored = await posts.findOne({ author: ann })
  const places = expected.map(({ kind, start, end, user }) => ({
    ...{ kind, start, end },
    ...(kind === 'MENTION' && { account: user?.handle ?? '' }),
  }))
  expect([stored?.facets, stored?.comments?.[0]?.facets]).toEqual([places, places])
  expect(await read()).toEqual([expected, expected])
})

test('hosts, tags and handles of any script are whole, and no part of one is a facet', async () => {
  const written =
    'https://shop.日本.jp/ #スター・ウォーズ @bob...x https://a.com@b.com/ #col·lecció'
  const { facets: named } = await create(ann, { text: written })
  const parts = named.map(({ start, end }: { start: number; end: number }) =>
    [...written].slice(start, end).join(''),
  )
  expect(parts).toEqual(['https://shop.日本.jp/', '#スター・ウォーズ', '@bob', '#col·lecció'])
  expect(named[0]).toMatchObject({ kind: 'LINK', url: 'https://shop.xn--wgv71a.jp/' })
})

test('a text without facets has an empty list', async () => {
  expect((await create(ann, { text: 'plain' })).facets).toEqual([])
  expect(await app.services.collections.posts.findOne({ text: 'plain' })).toMatchObject({
    facets: [],
  })
})

test('facets that a repair removed are found in the text, and name no accounts', async () => {
  const { posts } = app.services.collections
  const stored = await posts.findOne({ author: ann, text: text.normalize() })
  if (!stored) throw new Error('the post is stored')
  await posts.updateOne({ _id: stored._id }, { $unset: { facets: 1, 'comments.0.facets': 1 } })
  const withoutUsers = expected.map((facet) => ({ ...facet, user: null }))
  expect(await read(ann)).toEqual([withoutUsers, withoutUsers])
  await posts.replaceOne({ _id: stored._id }, stored)
})

test('a mentioned user that a block hides is null, for both users', async () => {
  const userOf = async (as: string) => (await read(as))[0]?.[0]
  await app.services.restrictions.block(cat, bob)
  expect(await userOf(cat)).toMatchObject({ handle: 'bob', user: null })
  expect(await userOf(ann)).toMatchObject({ user: { handle: 'bob' } })
  const own = await create(ann, { text: '@cat' })
  const query = 'query ($id: ID!) { post(id: $id) { facets { user { id } } } }'
  expect((await ask(bob, query, { id: own.id })).data.post.facets).toEqual([{ user: null }])
  await app.services.restrictions.unblock(cat, bob)
})

test('the mentioned users of a page are read together, and the price covers the commands', async () => {
  const many = Array.from({ length: 40 }, (_, n) => handle(`m${n}`))
  const [author] = many
  if (!author) throw new Error('there are users')
  await openAccounts(app.services, many)
  // The jobs of the tests above send commands too.
  await app.rest()
  const mint = new IdMint(Date.now)
  await app.services.collections.posts.insertMany(
    many.map((one, n) => {
      const other = many[(n + 1) % many.length] as UserId
      const mentions = `@${one} @${other} @none${n}`
      const facets = findFacets(mentions).map((facet, at) => {
        return { ...facet, account: [one, other, ''][at] as string }
      })
      return { _id: toObjectId(mint.next<PostId>()), author, text: mentions, facets }
    }),
  )
  const page = (first: number, user: string) =>
    `{ user(handle: "${author}") { posts(first: ${first}) { edges { node { facets { ${user} } } } } } }`
  const commandsOf = async (query: string) => {
    const { result, commands } = await recorded(app.database.client, () => ask(ann, query))
    expect(result.cost).toBeGreaterThanOrEqual(commandPrice * commands.length)
    return labelsOf(commands)
  }
  const without = await commandsOf(page(40, 'start handle'))
  expect(without).toEqual(['read posts', 'read restrictions', 'read users'])
  for (const user of ['user { name avatarUrl }', 'user { id }', 'user { __typename }']) {
    const [small, large] = [await commandsOf(page(1, user)), await commandsOf(page(40, user))]
    expect(large).toEqual(small)
    expect(large.length).toBe(without.length + 2)
  }
})

test('a page from memory has its facets, and the mentioned users as they are now', async () => {
  const [reader, late] = [handle('reader'), handle('late')]
  await openAccounts(app.services, [reader, late])
  await create(reader, { text: '@late' })
  await app.rest()
  const page = (selected: string) =>
    `{ timeline { edges { node { text facets { handle ${selected} } } } } }`
  const facetOf = async (selected: string) =>
    (await ask(reader, page(selected))).data.timeline.edges[0].node.facets[0]
  for (let times = 0; times < 4; times++) {
    expect(await facetOf('')).toEqual({ handle: 'late' })
    expect(await facetOf('user { name }')).toEqual({ handle: 'late', user: { name: 'late' } })
  }
  const { commands } = await recorded(app.database.client, () => facetOf(''))
  expect(labelsOf(commands)).toEqual(['read inbox'])
  await app.services.users.update(late, { handle: 'later' as Handle, name: 'Later' })
  expect(await facetOf('user { name handle }')).toEqual({
    ...{ handle: 'late', user: { name: 'Later', handle: 'later' } },
  })
})
