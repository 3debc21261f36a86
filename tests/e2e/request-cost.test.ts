import { beforeAll, describe, expect, test } from 'vitest'
import { toObjectId } from '../../src/db/object-id.ts'
import { limits } from '../../src/graphql/limits.ts'
import { commandPrice } from '../../src/graphql/prices.ts'
import { type EdgeId, IdMint, type PostId, type TimeId, type UserId } from '../../src/lib/ids.ts'
import { knowViewers, useApp } from '../support/app.ts'
import { labelsOf } from '../support/commands.ts'
import { noteFact } from '../support/facts.ts'
import { recorded } from '../support/mongo.ts'
import { handle, openAccounts } from '../support/services.ts'

const app = useApp({ PAGE_CACHE_MB: '0' })
const [reader, judge] = [handle('reader'), handle('judge')]
const people = Array.from({ length: 3_000 }, (_, n) => handle(`p${n}`))
/** People with posts and likes. The reader follows all people, and these most recently. */
const authors = people.slice(-100)
const mint = new IdMint(Date.now)
/** A cursor in the middle of every list. */
let middle = ''

beforeAll(async () => {
  const { collections, transactions, edges } = app.services
  await openAccounts(app.services, [reader, judge, ...people])
  const follow = (follower: UserId, followee: UserId) => {
    return { id: mint.next<EdgeId>(), follower, followee, source: 'FEEDLINE' as const }
  }
  const followed = [
    ...people.map((one) => follow(reader, one)),
    ...authors.map((one) => follow(judge, one)),
  ]
  for (let from = 0; from < followed.length; from += 500) {
    await transactions.run((tx) => edges.store(tx, followed.slice(from, from + 500)))
  }
  await collections.user_stats.updateOne({ _id: reader }, { $set: { following: people.length } })
  const before = authors.map((author) => post(author))
  const likes = likesOf(before)
  const marker = post(reader)
  const all = [...before, marker, ...authors.map((author) => post(author))]
  await collections.posts.insertMany(all)
  await collections.engagements_by_user.insertMany([...likes, ...likesOf(all.slice(-100))])
  await collections.restrictions.insertMany(
    authors.map((other) => {
      return { _id: toObjectId(mint.next<TimeId>()), owner: judge, other, kind: 'MUTE' as const }
    }),
  )
  const { data } = await app.send({
    as: reader,
    query: '{ user(handle: "reader") { posts(first: 1) { edges { cursor } } } }',
  })
  middle = data.user.posts.edges[0].cursor
})

const post = (author: UserId) => {
  return { _id: toObjectId(mint.next<PostId>()), author, text: `by ${author}` }
}

/** By-user entries of likes that the posts do not hold, so every page of likes drops them. */
const likesOf = (posts: readonly ReturnType<typeof post>[]) =>
  posts.map(({ _id, author }) => {
    return {
      _id: toObjectId(mint.next<TimeId>()),
      user: author,
      kind: 'likes' as const,
      post: _id,
      author,
    }
  })

async function sentFor(query: string, as = reader) {
  const { result, commands } = await recorded(app.database.client, () => app.send({ as, query }))
  expect(result.errors).toEqual([])
  return { ...result, commands }
}

const pageInfo = 'pageInfo { hasNextPage hasPreviousPage }'
const timelineOf = (first: number, post: string) =>
  `{ timeline(first: ${first}) { edges { node { ${post} } } } }`
const both = () => `(first: 0, after: "${middle}", before: "${middle}")`

describe('what lists of a page send together', () => {
  test.each([
    ['likes of posts', () => `likes${both()} { ${pageInfo} }`],
    ['liked posts of authors', () => `author { likedPosts${both()} { ${pageInfo} } }`],
    [
      'likes that the posts do not hold',
      () => 'author { likedPosts(first: 1) { edges { cursor } } }',
    ],
  ])('100 lists cost the commands of one, with their probes and refills: %s', async (_, list) => {
    const [one, hundred] = [
      await sentFor(timelineOf(1, list())),
      await sentFor(timelineOf(100, list())),
    ]
    expect(one.commands.length).toBeGreaterThan(5)
    expect(labelsOf(hundred.commands)).toEqual(labelsOf(one.commands))
  })

  test('aliases of one timeline share their reads, for all sizes and selections', async () => {
    const alone = await sentFor(
      '{ timeline(first: 30) { edges { node { text author { name } } } pending } }',
    )
    const aliases = Array.from({ length: 29 }, (_, n) => {
      return `t${n}: timeline(first: ${n}) { edges { node { text author { name } } } }`
    })
    const query = `{ ${aliases} timeline(first: 30) { edges { node { id } } pending ${pageInfo} } }`
    const shared = await sentFor(query)
    expect(labelsOf(shared.commands)).toEqual(labelsOf(alone.commands))
    const sizes = aliases.map((_, n) => shared.data[`t${n}`].edges.length)
    expect(sizes).toEqual(aliases.map((_, n) => n))
  })

  test.each([
    ['newest first', ['first: 0', 'first: 3', 'first: 100']],
    ['oldest first', ['last: 0', 'last: 2', 'last: 100']],
    ['past a cursor', ['first: 2, after: $middle', 'first: 7, after: $middle']],
    ['before a cursor', ['last: 2, before: $middle', 'last: 7, before: $middle']],
  ])('aliases of one timeline have the pages of separate requests: %s', async (_, all) => {
    const field = (args: string) =>
      `timeline(${args.replace('$middle', `"${middle}"`)}) { edges { cursor node { text } } ${pageInfo} }`
    const together = await sentFor(`{ ${all.map((args, n) => `t${n}: ${field(args)}`).join(' ')} }`)
    for (const [n, args] of all.entries()) {
      const alone = await sentFor(`{ ${field(args)} }`)
      expect([args, together.data[`t${n}`]]).toEqual([args, alone.data.timeline])
    }
  })
})

test('a page past muted authors costs few commands, for any number of them', async () => {
  await knowViewers(app, judge)
  const { data, commands } = await sentFor(
    '{ timeline(first: 1) { edges { node { text } } } }',
    judge,
  )
  expect(data.timeline.edges).toEqual([])
  noteFact(`a page past ${authors.length} muted authors: ${commands.length} commands`)
  expect(commands.length).toBeLessThanOrEqual(10)
})

describe('cost', () => {
  const distinct = (count: number) =>
    Array.from(
      { length: count },
      (_, n) => `t${n}: timeline(group: "g${n}") { edges { cursor } }`,
    ).join(' ')

  test('each response of a valid operation has its cost, and a refusal too', async () => {
    const answered = await app.send({ as: reader, query: '{ viewer { id } }' })
    expect(answered.extensions).toEqual({ cost: { requested: 2, limit: limits.cost } })
    const refused = await app.send({ as: reader, query: `{ ${distinct(25)} }` })
    expect(refused.errors.map(({ extensions }) => extensions.limit)).toEqual(['cost'])
    expect(refused.extensions.cost.requested).toBeGreaterThan(limits.cost)
    const invalid = await app.send({ as: reader, query: '{ viewr }' })
    expect(invalid.extensions).toBeUndefined()
  })

  test('several timelines cost by the followees of the viewer, and one read more', async () => {
    const few = await app.send({ as: judge, query: `{ ${distinct(18)} }` })
    expect(few.errors).toEqual([])
    const { commands, extensions } = await sentFor(`{ ${distinct(4)} }`)
    expect(labelsOf(commands).filter((label) => label === 'read user_stats')).toHaveLength(1)
    expect(commands.length).toBeLessThanOrEqual(extensions.cost.requested / commandPrice)
  })
})
