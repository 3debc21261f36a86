import { beforeAll, describe, expect, test } from 'vitest'
import { toObjectId } from '../../src/db/object-id.ts'
import { type EdgeId, IdMint, type PostId, type TimeId } from '../../src/lib/ids.ts'
import { knowViewers, useApp } from '../support/app.ts'
import { isUnboundedRead, labelsOf, shardProblemOf } from '../support/commands.ts'
import { storeEdges } from '../support/edges.ts'
import { noteFact } from '../support/facts.ts'
import { type RecordedCommand, recorded } from '../support/mongo.ts'
import { unkeptFactsReads } from '../support/page-commands.ts'
import { handle, openAccounts } from '../support/services.ts'

const app = useApp({ PAGE_CACHE_MB: '0' })
const reader = handle('reader')
/** More users than the 101 documents of MongoDB’s default first batch. */
const people = Array.from({ length: 130 }, (_, n) => handle(`p${n}`))
let postIds: string[]
let userIds: string[]
let cursor: string

beforeAll(async () => {
  const { services } = app
  const { collections } = services
  const mint = new IdMint(Date.now)
  const edge = (follower = reader, followee = reader) => {
    return { id: mint.next<EdgeId>(), follower, followee, source: 'FEEDLINE' as const }
  }
  await openAccounts(services, [reader, ...people])
  const ring = (n: number, step: number) => people[(n + step) % people.length]
  const follows = people.flatMap((person, n) => [
    edge(reader, person),
    edge(person, reader),
    ...[1, 43, 86].map((step) => edge(ring(n, step), person)),
  ])
  await storeEdges(services, follows)
  const id = () => toObjectId(mint.next<TimeId>())
  await collections.restrictions.insertMany(
    people.flatMap((owner) => [
      ...(['MUTE', 'BLOCK', 'BLOCKED_BY'] as const).map((kind) => {
        return { _id: id(), owner: handle('judge'), other: owner, kind }
      }),
    ]),
  )
  const post = (author = reader) => {
    return { _id: toObjectId(mint.next<PostId>()), author, text: `by ${author}` }
  }
  await collections.posts.insertMany([
    ...Array.from({ length: 110 }, () => post()),
    ...[...people, ...people].map((person) => post(person)),
  ])
  const page = '{ edges { cursor node { id author { id } } } }'
  const { data } = await app.send({ as: reader, query: `{ timeline(first: 100) ${page} }` })
  cursor = data.timeline.edges[0].cursor
  postIds = data.timeline.edges.map(({ node }: { node: { id: string } }) => node.id)
  userIds = data.timeline.edges.map(({ node }: { node: { author: { id: string } } }) => {
    return node.author.id
  })
})

async function commandsOf(query: string, as: string = reader): Promise<readonly RecordedCommand[]> {
  await knowViewers(app, as)
  const { result, commands } = await recorded(app.database.client, () => app.send({ as, query }))
  expect(result.errors).toEqual([])
  return commands
}

/** The labels of a request’s commands, each of which must reach one shard and have a time limit. */
async function labelsFor(query: string, as?: string): Promise<string[]> {
  const commands = await commandsOf(query, as)
  expect(commands.flatMap((sent) => shardProblemOf(sent) ?? [])).toEqual([])
  expect(labelsOf(commands.filter(isUnboundedRead))).toEqual([])
  return labelsOf(commands)
}

const show = (name: string, labels: readonly string[]) =>
  noteFact(`${name}: ${labels.length} commands: ${labels.join(', ')}`)

const pageInfo = 'pageInfo { startCursor endCursor hasNextPage hasPreviousPage }'
const profile = 'handle name bio followerCount followingCount postCount viewerFollows'
const relations = 'followsViewer viewerGroups viewerHasMuted viewerHasBlocked'
const content = `id text createdAt attachments { url } author { ${profile} }`
const user = (below: string) => `{ user(handle: "reader") { ${below} } }`
const list = (field: string, n: number, node: string) =>
  `${field}(first: ${n}) { edges { cursor node { ${node} } } ${pageInfo} }`
const viewer = (below: string) => `{ viewer { ${below} } }`
const authors = (n: number, below: string) =>
  `{ timeline(first: ${n}) { edges { node { author { ${below} } } } } }`
const nodes = (ids: readonly string[], below: string) =>
  `{ nodes(ids: ${JSON.stringify(ids)}) { id ${below} } }`

/** The same fields on a page, or a list of aliases, of `n`. */
const pages: Record<string, (n: number) => string> = {
  timeline: (n) => `{ ${list('timeline', n, content)} }`,
  'timeline with all relations': (n) => authors(n, `${profile} ${relations}`),
  'posts of a user': (n) => user(list('posts', n, content)),
  followers: (n) => user(list('followers', n, `${profile} ${relations}`)),
  following: (n) => user(list('following', n, `${profile} ${relations}`)),
  'followees in common': (n) =>
    `{ user(handle: "p0") { ${list('mutuals', n, `${profile} ${relations}`)} } }`,
  'followees in common with each of a page': (n) =>
    user(`followers(first: ${n}) { edges { node { mutuals(first: 3) { totalCount edges { node {
      name } } } } } }`),
  suggestions: (n) => viewer(list('suggestions', n, `${profile} ${relations}`)),
  mutes: (n) => viewer(list('mutes', n, `${profile} ${relations}`)),
  blocks: (n) => viewer(list('blocks', n, `${profile} ${relations}`)),
  'nodes, posts': (n) => nodes(postIds.slice(0, n), `... on Post { ${content} }`),
  'nodes, users': (n) => nodes(userIds.slice(0, n), `... on User { ${profile} ${relations} }`),
  "authors' followers": (n) => authors(n, list('followers', 3, profile)),
  "authors' followers' counters": (n) =>
    user(`followers(first: ${n}) { edges { node { followers(first: 3) { edges { node {
      postCount } } } } } }`),
  "authors' followers' posts": (n) =>
    user(`followers(first: ${n}) { edges { node { followers(first: 3) { edges { node {
      posts(first: 2) { edges { node { text } } } } } } } } }`),
  "authors' posts": (n) => authors(n, list('posts', 2, 'text')),
  "what lies on both sides of authors' posts": (n) =>
    authors(
      n,
      `older: posts(last: 1, before: "${cursor}") { ${pageInfo} }
      newer: posts(first: 1, after: "${cursor}") { ${pageInfo} }`,
    ),
  'aliases of users': (n) =>
    `{ ${people.slice(0, Math.min(n, 30)).map(
      (one, at) => `u${at}: user(handle: "${one}") {
      ${profile} ${relations} }`,
    )} }`,
  'aliases of lists': (n) =>
    `{ ${people.slice(0, Math.min(n, 30)).map(
      (one, at) => `u${at}: user(handle: "${one}") {
      followers(first: 2) { edges { node { ${profile} } } } }`,
    )} }`,
  'what people did to the posts': (n) => `{ timeline(first: ${n}) { edges { node {
    likeCount viewerHasLiked viewerHasShared
    likes(first: 3) { edges { node { createdAt user { name } } } }
    comments(first: 2) { edges { node { text user { name } } } } } } } }`,
  "authors' liked posts": (n) => `{ timeline(first: ${n}) { edges { node { author {
    likedPosts(first: 2) { edges { likedAt node { text } } } } } } } }`,
  'aliases of one list': (n) =>
    user(
      Array.from(
        { length: Math.min(n, 30) },
        (_, at) => `l${at}: ${list('followers', 2, 'name')}`,
      ).join(' '),
    ),
}

test.each(Object.entries(pages))(
  'pages of 1 and of 100 items cost the same commands, each on one shard: %s',
  async (name, query) => {
    const as = ['mutes', 'blocks'].includes(name) ? 'judge' : reader
    const [small, large] = [await labelsFor(query(1), as), await labelsFor(query(100), as)]
    show(name, large)
    expect(large.length).toBeGreaterThan(0)
    expect(large).toEqual(small)
  },
)

describe('only selected data is read', () => {
  const page = (node: string) => `{ timeline(first: 50) { edges { ${node} } } }`
  const candidates = ['read following', 'read posts']
  // Fan-out on read needs no registration.
  const facts = unkeptFactsReads.filter((label) => label !== 'read strategies')
  const asked: Record<string, readonly [query: string, more: readonly string[]]> = {
    'cursors alone': [page('cursor'), []],
    ids: [page('node { id author { id } }'), []],
    'ids and handles': [page('node { id author { id handle } }'), []],
    'a post': [page('node { text }'), []],
    'a profile': [page('node { author { name bio avatarUrl bannerUrl createdAt } }'), []],
    counters: [page('node { author { postCount } }'), ['read user_stats']],
    'the relation of the viewer': [page('node { author { viewerFollows } }'), []],
    'one relation': [page('node { author { followsViewer } }'), ['read followers']],
    'what lies beyond the last': ['{ timeline(first: 50) { pageInfo { hasNextPage } } }', []],
  }

  test.each(Object.entries(asked))(
    'a timeline reads only selected data: %s',
    async (name, [query, more]) => {
      const labels = await labelsFor(query)
      show(name, labels)
      expect(labels).toEqual([...candidates, ...facts, ...more].sort())
    },
  )

  test('a list reads the previous side of its cursor only if hasPreviousPage is selected', async () => {
    const older = (info: string) => user(`posts(first: 5, after: "${cursor}") { ${info} }`)
    const without = await labelsFor(older('edges { cursor } pageInfo { endCursor hasNextPage }'))
    expect(without).toEqual(['read posts', 'read users'])
    const exact = await labelsFor(older('pageInfo { hasPreviousPage }'))
    expect(exact).toEqual([...without, 'read posts'].sort())
  })

  test('users are read without counters if only profiles are selected, and the other way round', async () => {
    const of = (node: string) => user(`followers(first: 50) { edges { node { ${node} } } }`)
    const exists = ['read followers', 'read restrictions', 'read users']
    expect(await labelsFor(of('name'))).toEqual([...exists, 'read users'])
    expect(await labelsFor(of('postCount'))).toEqual([...exists, 'read user_stats'].sort())
  })

  test('the number of all items costs no command unless it is selected, and one for all lists of a page', async () => {
    const counts = (total: string) =>
      user(`followers(first: 50) { edges { node { viewerFollows
        followers(first: 1) { edges { cursor } ${total} }
        following(first: 1) { edges { cursor } ${total} }
        posts(first: 1) { edges { cursor } ${total} } } } }`)
    const without = await labelsFor(counts(''))
    expect(await labelsFor(counts('totalCount'))).toEqual([...without, 'read user_stats'].sort())
    const lists = (fields: string) => `{ timeline(first: 50) { edges { node { id ${fields}
      likes(first: 1) { edges { cursor } ${fields && 'totalCount'} } } } } }`
    expect((await labelsFor(lists('text'))).length).toBe((await labelsFor(lists(''))).length)
  })

  test('what the viewer may do with a post or user costs at most the blocks between them', async () => {
    const plain = '{ timeline(first: 50) { edges { node { id author { handle } } } } }'
    const fields =
      '{ timeline(first: 50) { edges { node { id viewerCanDelete author { handle isViewer viewerCanFollow } } } } }'
    expect(await labelsFor(fields)).toEqual(await labelsFor(plain))
    const followers = (fields: string) =>
      labelsFor(user(`followers(first: 50) { edges { node { ${fields} } } }`))
    expect(await followers('isViewer viewerCanFollow')).toEqual(await followers('id'))
  })

  test('an error code’s meaning and an anonymous viewer cost no command', async () => {
    expect(await labelsFor('{ errorMeaning(code: CONFLICT) viewer { id roles } }')).toEqual([])
  })
})
