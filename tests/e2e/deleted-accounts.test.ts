import { beforeAll, describe, expect, test } from 'vitest'
import { postNodeId, userNodeId } from '../../src/graphql/node-id.ts'
import type { PostRef, UserId } from '../../src/lib/ids.ts'
import { useApp } from '../support/app.ts'
import { BlockedWorld, belongsTo, objectsIn } from '../support/blocked-world.ts'
import { labelsOf } from '../support/commands.ts'
import { recorded } from '../support/mongo.ts'
import { share } from '../support/repetition.ts'
import { handle, openAccounts } from '../support/services.ts'
import { mutationPaths, queryPaths, readPaths } from '../support/world-paths.ts'

const app = useApp()
const [ann, dan, cat, eve] = ['ann', 'dan', 'cat', 'eve'].map(handle) as [
  UserId,
  UserId,
  UserId,
  UserId,
]
const world = new BlockedWorld([ann, dan, cat, eve])
/** Follows the four, so that each of them is suggested to someone. */
const newcomer = handle('newcomer')
const nobody = handle('nobody')
/** The prefix of the clientMutationIds of mutations that are repeated. */
const id = 'before the deletion'
/** No block hides what a deletion hides. */
const options = { id, without: /lockUser$/ }

/** The places in an answer where an edge has no node, or an entry no user. */
function holesIn(value: unknown, place: string): string[] {
  if (Array.isArray(value)) return value.flatMap((item) => holesIn(item, place))
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, child]) => {
    const isHole = child === null && /Edge$/.test(place) && key === 'node'
    const type = '__typename' in value ? String(value.__typename) : place
    const noUser = child === null && /^(Like|Comment|Share)$/.test(type) && key === 'user'
    return isHole || noUser ? [`${type}.${key}`] : holesIn(child, `${type}.${key}`)
  })
}

/** What an answer shows of a deleted account, or what it leaves empty for it. */
function tracesIn(data: object, root: string, deleted: UserId): string[] {
  const shown = objectsIn({ __typename: root, ...data }, root)
    .filter((one) => belongsTo(one, deleted, nobody))
    .map(({ place, object }) => `${place}: ${JSON.stringify(object).slice(0, 200)}`)
  const text = JSON.stringify(data)
  const marks = [`name of ${deleted}`, `bio of ${deleted}`, `"by ${deleted} `].filter((mark) =>
    text.includes(mark),
  )
  return [...shown, ...marks, ...holesIn(data, root)]
}

const readers = [
  ['a follower', eve],
  ['an anonymous client', undefined],
  ['the deleted person', dan],
] as const

const senders = [
  ['a follower', eve],
  ['the deleted person', dan],
] as const

beforeAll(async () => {
  await world.create(app.services)
  const { follows, restrictions, users } = app.services
  await openAccounts(app.services, [newcomer])
  await follows.follow(newcomer, eve)
  await restrictions.mute(cat, dan)
  for (const viewer of [eve, dan])
    await readPaths(app, viewer, 'mutation', mutationPaths(world, viewer, dan, options))
  for (const kind of ['likes', 'shares'] as const)
    for (const viewer of [eve, cat])
      await app.services.engagements.add(kind, viewer, world.postOf(dan))
  await follows.follow(eve, dan)
  await users.delete(dan)
})

test.each(share(1, readers))(
  'no path of Query shows %s anything of a deleted account',
  async (_, as) => {
    const pairs = [
      [dan, cat],
      [cat, dan],
      [eve, dan],
    ] as const
    const paths = pairs.flatMap(([user, actor]) => queryPaths(world, user, actor))
    const traces = (await readPaths(app, as, 'query', paths)).flatMap(({ path, data, codes }) => {
      if (as === eve) expect([path.name, codes]).toEqual([path.name, []])
      return tracesIn(data, 'Query', dan).map((trace) => `${path.name}: ${trace}`)
    })
    expect(traces).toEqual([])
  },
)

test.each(share(1, senders))(
  'a repeated mutation shows %s nothing of a deleted account',
  async (_, viewer) => {
    const repeated = await readPaths(
      app,
      viewer,
      'mutation',
      mutationPaths(world, viewer, dan, options),
    )
    const traces = repeated.flatMap(({ path, data }) =>
      tracesIn(data, 'Mutation', dan).map((trace) => `${path.name}: ${trace}`),
    )
    expect(traces).toEqual([])
    // No user may follow, mute or group themselves, not the first time either.
    const own = new Set(['BAD_USER_INPUT', 'NOT_FOUND'])
    const codes = repeated.flatMap((path) => path.codes)
    expect(codes.filter((code) => viewer !== dan || !own.has(code))).toEqual([])
  },
)

test('a mutation that is new shows nothing of a deleted account', async () => {
  const fresh = mutationPaths(world, eve, dan, options).map((path) => ({
    ...path,
    selection: path.selection.replaceAll(id, 'after the deletion'),
  }))
  const traces = (await readPaths(app, eve, 'mutation', fresh)).flatMap(({ path, data, codes }) => {
    expect(codes, path.name).not.toContain('INTERNAL_SERVER_ERROR')
    return tracesIn(data, 'Mutation', dan).map((trace) => `${path.name}: ${trace}`)
  })
  expect(traces).toEqual([])
})

test('a repeated mutation shows nothing of a post that was deleted', async () => {
  const paths = mutationPaths(world, ann, cat, options)
  const first = await readPaths(app, ann, 'mutation', paths)
  const isOfPost = (data: object) => JSON.stringify(data).includes(`"by ${cat} `)
  expect(first.some(({ data }) => isOfPost(data))).toBe(true)
  await app.services.posts.delete(cat, world.postOf(cat))
  const repeated = await readPaths(app, ann, 'mutation', paths)
  expect(repeated.filter(({ codes }) => codes.length > 0)).toEqual([])
  expect(repeated.filter(({ data }) => isOfPost(data)).map(({ path }) => path.name)).toEqual([])
})

describe('lists that hold entries of deleted accounts', () => {
  const author = handle('listed')
  const fans = Array.from({ length: 12 }, (_, n) => handle(`listed-fan${n}`))
  /** The newest, and one in the middle. */
  const leavers = [7, 9, 10, 11].map((n) => fans[n] as UserId)
  const left = fans.filter((fan) => !leavers.includes(fan)).toReversed()
  let post: PostRef

  beforeAll(async () => {
    const { follows, engagements, restrictions, users, posts } = app.services
    await openAccounts(app.services, [author, ...fans])
    post = await posts.create(author, { text: 'liked' })
    for (const fan of fans) {
      for (const kind of ['likes', 'comments', 'shares'] as const)
        await engagements.add(kind, fan, post, { text: 'so' })
      await follows.follow(fan, author)
      await follows.follow(author, fan)
      await restrictions.mute(author, fan)
    }
    await follows.follow(eve, fans[0] as UserId)
    for (const fan of fans.slice(6)) await follows.follow(eve, fan)
    for (const leaver of leavers) await users.delete(leaver)
  })

  const onPost = (list: string) => `node(id: "${postNodeId(post)}") { ... on Post { ${list} } }`
  const onUser = (list: string) => `user(handle: "${author}") { ${list} }`
  const entries = 'edges { cursor node { user { handle } } }'
  const people = 'edges { cursor node { handle } }'
  const lists = [
    ['likes', (args: string) => onPost(`likes(${args}) { ${entries} pageInfo { hasNextPage } }`)],
    [
      'comments',
      (args: string) => onPost(`comments(${args}) { ${entries} pageInfo { hasNextPage } }`),
    ],
    ['shares', (args: string) => onPost(`shares(${args}) { ${entries} pageInfo { hasNextPage } }`)],
    [
      'followers',
      (args: string) => onUser(`followers(${args}) { ${people} pageInfo { hasNextPage } }`),
    ],
    [
      'following',
      (args: string) => onUser(`following(${args}) { ${people} pageInfo { hasNextPage } }`),
    ],
    ['mutes', (args: string) => `viewer { mutes(${args}) { ${people} pageInfo { hasNextPage } } }`],
  ] as const

  test.each(lists)('%s: pages are full, and a walk gives all others once', async (name, listOf) => {
    const walked: string[] = []
    for (let after = ''; ; ) {
      const query = `{ ${listOf(`first: 3${after}`)} }`
      const { data, errors } = await app.send({ as: author, query })
      expect(errors).toEqual([])
      const [{ [name]: page }] = Object.values(data) as [
        Record<
          string,
          {
            edges: { cursor: string; node: { handle?: string; user?: { handle: string } } }[]
            pageInfo: { hasNextPage: boolean }
          }
        >,
      ]
      const edges = page?.edges ?? []
      walked.push(...edges.map(({ node }) => String(node.user?.handle ?? node.handle)))
      if (!page?.pageInfo.hasNextPage) break
      expect(edges).toHaveLength(3)
      after = `, after: "${edges.at(-1)?.cursor}"`
    }
    expect(walked).toEqual(left)
  })

  test('mutuals and their number leave out deleted followees', async () => {
    const query = `{ user(handle: "${author}") { mutuals(first: 20) { totalCount ${people} } } }`
    const { data } = await app.send({ as: eve, query })
    const { totalCount, edges } = data.user.mutuals
    const shown = edges.map(({ node }: { node: { handle: string } }) => node.handle)
    expect(shown).toEqual([8, 6, 0].map((n) => fans[n]))
    expect(totalCount).toBe(3)
  })

  test('an entry by its id is null, also to its own user', async () => {
    const { data: listed } = await app.send({
      query: `{ ${onPost('likes(first: 1) { edges { node { id } } }')} }`,
    })
    const id = listed.node.likes.edges[0].node.id
    const likeOf = async (as?: UserId) =>
      (await app.send({ as, query: `{ node(id: "${id}") { id } nodes(ids: ["${id}"]) { id } }` }))
        .data
    expect(await likeOf()).toEqual({ node: { id }, nodes: [{ id }] })
    await app.services.users.delete(left[0] as UserId)
    for (const as of [undefined, left[0]])
      expect(await likeOf(as)).toEqual({ node: null, nodes: [null] })
    left.shift()
  })

  test('the profiles of a page decide it, without a further command', async () => {
    const commandsOf = async (list: string) => {
      const send = () => app.send({ query: `{ ${onPost(list)} }` })
      return labelsOf((await recorded(app.database.client, send)).commands)
    }
    const shown = await commandsOf('likes(first: 2) { edges { node { user { handle } } } }')
    const plain = await commandsOf('likes(first: 2) { edges { node { createdAt } } }')
    expect(shown.filter((label) => label.includes('user_stats'))).toEqual(
      (await commandsOf('id')).filter((label) => label.includes('user_stats')),
    )
    expect(plain.length).toBeLessThanOrEqual(shown.length)
  })

  test('the counts follow when the removal ends', async () => {
    const counts = async () => {
      const query = `{ ${onPost('likeCount commentCount shareCount likes(first: 1) { totalCount }')} }`
      return (await app.send({ query })).data.node
    }
    await app.rest()
    const count = left.length
    expect(await counts()).toEqual({
      ...{ likeCount: count, commentCount: count, shareCount: count },
      likes: { totalCount: count },
    })
    const gone = userNodeId(leavers[0] as UserId)
    expect((await app.send({ query: `{ node(id: "${gone}") { id } }` })).data.node).toBeNull()
  })
})
