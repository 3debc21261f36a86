import { beforeAll, expect, test } from 'vitest'
import {
  type EngagementKind,
  engagementKinds,
  kinds,
  publicKinds,
} from '../../src/engagement/kinds.ts'
import { engagementNodeId, postNodeId } from '../../src/graphql/node-id.ts'
import {
  type EngagementId,
  IdMint,
  type PostId,
  type PostRef,
  type UserId,
} from '../../src/lib/ids.ts'
import { useApp } from '../support/app.ts'
import { BlockedWorld, belongsTo, leaksIn, objectsIn } from '../support/blocked-world.ts'
import { share } from '../support/repetition.ts'
import type { SchemaPath } from '../support/schema-paths.ts'
import { handle } from '../support/services.ts'
import { mutationPaths, queryPaths, readPaths, rootOf } from '../support/world-paths.ts'

const app = useApp()
const [ann, dan, cat, eve] = ['ann', 'dan', 'cat', 'eve'].map(handle) as [
  UserId,
  UserId,
  UserId,
  UserId,
]
const world = new BlockedWorld([ann, dan, cat, eve])
const mint = new IdMint(Date.now)
/** The viewer and the other user of the block that ann makes. */
const sides = [
  [ann, dan],
  [dan, ann],
] as const
/** The fields that only ever show the viewer's own objects. */
const ownAt = new Set([
  'Viewer.user',
  'UpdateUserPayload.user',
  'CreatePostPayload.post',
  'AddCommentPayload.comment',
  'TimelineEdge.node',
  ...Object.values(kinds).map(({ node }) => `${node.type}Edge.node`),
])

const block = () => app.services.restrictions.block(ann, dan)
const unblock = async () => {
  for (const [viewer, other] of sides) await app.services.restrictions.unblock(viewer, other)
}

beforeAll(async () => {
  await world.create(app.services)
  for (const [viewer, other] of sides) await app.services.restrictions.mute(viewer, other)
})

/** A comment that does not exist. */
const absentComment = (post: PostRef) =>
  engagementNodeId({ kind: 'comments', post, key: mint.next<EngagementId>() })

const placesOf = (paths: readonly SchemaPath[]) =>
  paths.map(({ name }) => name.replace(/.*\//, '').replace(/\(.*/, ''))

test('without a block, each field of the schema shows the other user or content of the other user', async () => {
  await unblock()
  const queries = [...queryPaths(world, dan, cat), ...queryPaths(world, cat, dan)]
  const mutations = mutationPaths(world, eve, dan).filter((path) => rootOf(path) !== 'blockUser')
  const shown = [
    ...(await readPaths(app, eve, 'query', queries)),
    ...(await readPaths(app, eve, 'mutation', mutations)),
  ].flatMap(({ data, path }) => objectsIn({ __typename: path.name.split('.')[0], ...data }, ''))
  const seen = new Set(shown.filter((one) => belongsTo(one, dan, eve)).map(({ place }) => place))
  // Everyone follows everyone, so the viewer has no suggestions.
  const private_ = new Set(['Viewer.mutes', 'Viewer.blocks', 'Viewer.suggestions'])
  const expected = placesOf([...queries, ...mutations]).filter(
    (place) => !ownAt.has(place) && !private_.has(place),
  )
  expect([...new Set(expected)].filter((place) => !seen.has(place))).toEqual([])
})

test.each(share(1, sides))(
  'a block hides from %s on every path of Query what belongs to %s',
  async (viewer, hidden) => {
    await block()
    const paths = [...queryPaths(world, hidden, cat), ...queryPaths(world, cat, hidden)]
    const found = await readPaths(app, viewer, 'query', paths)
    const leaks = found.flatMap(({ path, data, codes }) => {
      expect([path.name, codes]).toEqual([path.name, []])
      return leaksIn(data, 'Query', hidden, viewer).map((leak) => `${path.name}: ${leak}`)
    })
    expect(leaks).toEqual([])
  },
)

test.each(share(1, sides, 1))(
  'a block hides from %s in every mutation, also a repeated one, what belongs to %s',
  async (viewer, hidden) => {
    const leaks: string[] = []
    const runEach = async (paths: SchemaPath[], before: () => Promise<unknown>) => {
      const all = []
      for (const root of new Set(paths.map(rootOf))) {
        await before()
        all.push(
          ...(await readPaths(
            app,
            viewer,
            'mutation',
            paths.filter((one) => rootOf(one) === root),
          )),
        )
      }
      return all
    }
    const id = 'before the block'
    const open = async () => {
      await unblock()
      await app.services.follows.follow(viewer, hidden)
    }
    await runEach(mutationPaths(world, viewer, hidden, { id }), open)
    const repeated = await runEach(mutationPaths(world, viewer, hidden, { id }), block)
    const commentId = absentComment(world.postOf(hidden))
    const without = /^unblockUser$/
    const fresh = mutationPaths(world, viewer, hidden, { commentId, without })
    for (const { path, data, codes } of [...repeated, ...(await runEach(fresh, block))]) {
      expect(codes, path.name).not.toContain('INTERNAL_SERVER_ERROR')
      leaks.push(
        ...leaksIn(data, 'Mutation', hidden, viewer).map((leak) => `${path.name}: ${leak}`),
      )
    }
    expect(repeated.filter(({ codes }) => codes.length > 0)).toEqual([])
    expect(leaks).toEqual([])
  },
)

test.each(sides)('an id with a forged author shows %s nothing of %s', async (viewer, hidden) => {
  const { id } = world.postOf(hidden)
  const claimed = [hidden, cat, viewer, handle('nobody')].map((author) => ({ id, author }))
  const idsOf = (post: PostRef, all: readonly EngagementKind[]) => [
    postNodeId(post),
    ...all.flatMap((kind) =>
      [hidden, cat].map((actor) => {
        const key = kind === 'comments' ? world.commentOf(hidden, actor) : actor
        return engagementNodeId({ kind, post, key })
      }),
    ),
  ]
  const ids = claimed.flatMap((post) => idsOf(post, engagementKinds))
  const read = async (as: UserId, list: readonly string[]) => {
    const aliases = list.map((_, at) => `n${at}: node(id: $id${at}) { id ...content }`).slice(0, 14)
    const { data, errors } = await app.send({
      as,
      query: `query ($ids: [ID!]!, ${aliases.map((_, at) => `$id${at}: ID!`).join(', ')}) {
        nodes(ids: $ids) { id ...content } ${aliases.join(' ')} }
        fragment content on Post { text author { name } likeCount likes(first: 2) { edges { cursor } } }`,
      variables: { ids: list, ...Object.fromEntries(list.map((one, at) => [`id${at}`, one])) },
    })
    expect(errors).toEqual([])
    const { nodes, ...single } = data
    return [...nodes, ...Object.values(single)].filter((node) => node !== null)
  }
  await unblock()
  const real = idsOf({ id, author: hidden }, publicKinds)
  for (const list of [ids, ids.toReversed()]) {
    const found = (await read(viewer, list)).map((node) => (node as { id: string }).id)
    expect(new Set(found)).toEqual(new Set(real))
  }
  await block()
  for (const list of [ids, ids.toReversed()]) expect(await read(viewer, list)).toEqual([])
})

test('a block hides from no anonymous request', async () => {
  await block()
  const { data } = await app.send({
    query: `{ user(handle: "dan") { name followerCount posts(first: 1) { edges { node { text } } } } }`,
  })
  expect(data.user).toEqual({
    name: 'name of dan',
    followerCount: expect.any(Number),
    posts: { edges: [{ node: { text: world.textBy(dan) } }] },
  })
})

test('a block hides whether a post still exists', async () => {
  await block()
  const absent = { author: dan, id: mint.next<PostId>() }
  const [reasons, none] = await Promise.all(
    [world.postOf(dan), absent].map(async (post) => {
      const query = `{ whyNotInTimeline(post: "${postNodeId(post)}") { code } }`
      const { data } = await app.send({ as: ann, query })
      return data.whyNotInTimeline
    }),
  )
  expect(reasons).toContainEqual({ code: 'BLOCKED' })
  expect(none).toEqual(reasons)
})
