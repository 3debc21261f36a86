import { beforeAll, describe, expect, test } from 'vitest'
import { limits } from '../../src/graphql/limits.ts'
import type { UserId } from '../../src/lib/ids.ts'
import { encodeOpaque } from '../../src/lib/opaque.ts'
import { useApp } from '../support/app.ts'
import { handle, openAccounts } from '../support/services.ts'

const app = useApp()
const names = ['ann', 'ben', 'cat', 'dan', 'eve', 'fay', 'gus', 'hal'].map(handle)
const [ann, ben, cat, dan, eve, fay, gus, hal] = names as [
  UserId,
  UserId,
  UserId,
  UserId,
  UserId,
  UserId,
  UserId,
  UserId,
]

/** Ann follows ben, cat and dan. They follow eve (three), fay (two) and gus (one). */
beforeAll(async () => {
  await openAccounts(app.services, names)
  for (const [follower, ...followees] of [
    [ann, ben, cat, dan],
    [ben, eve, fay, ann, cat],
    [cat, eve, fay, dan],
    [dan, eve, gus],
    [eve, cat, dan, ben],
  ] as const) {
    for (const followee of followees) await app.services.follows.follow(follower, followee)
  }
})

const page = 'edges { cursor node { handle name } } pageInfo { hasNextPage endCursor }'

async function mutualsOf(as: string | undefined, user: string, args = '(first: 20)') {
  const query = `{ user(handle: "${user}") { mutuals${args} { totalCount ${page} } } }`
  const { data, errors } = await app.send({ as, query })
  expect(errors).toEqual([])
  const { totalCount, edges, pageInfo } = data.user.mutuals
  return { totalCount, pageInfo, handles: handlesOf(edges) }
}

async function suggestionsFor(as: string, args = '(first: 20)') {
  const query = `{ viewer { suggestions${args} {
    edges { cursor commonCount node { handle name } } pageInfo { hasNextPage endCursor } } } }`
  const { data, errors } = await app.send({ as, query })
  expect(errors).toEqual([])
  const { edges, pageInfo } = data.viewer.suggestions as {
    edges: { commonCount: number; node: { handle: string } }[]
    pageInfo: { hasNextPage: boolean; endCursor: string }
  }
  return { pageInfo, counts: edges.map((edge) => [edge.node.handle, edge.commonCount]) }
}

const handlesOf = (edges: readonly { node: { handle: string } }[]) =>
  edges.map(({ node }) => node.handle)

describe('mutuals', () => {
  test('the followees in common come in pages with their number, the viewer’s newest follow first', async () => {
    expect(await mutualsOf(ann, eve)).toMatchObject({ totalCount: 3, handles: [dan, cat, ben] })
    const { handles, totalCount, pageInfo } = await mutualsOf(ann, eve, '(first: 2)')
    expect([handles, totalCount, pageInfo.hasNextPage]).toEqual([[dan, cat], 3, true])
    const rest = await mutualsOf(ann, eve, `(first: 2, after: "${pageInfo.endCursor}")`)
    expect([rest.handles, rest.totalCount, rest.pageInfo.hasNextPage]).toEqual([[ben], 3, false])
    expect(await mutualsOf(ann, ben)).toMatchObject({ totalCount: 1, handles: [cat] })
    expect(await mutualsOf(ann, hal)).toMatchObject({ totalCount: 0, handles: [] })
  })

  test('the viewer has all own followees in common with the own user, and an anonymous request has none', async () => {
    expect((await mutualsOf(ann, ann)).handles).toEqual([dan, cat, ben])
    const { data } = await app.send({
      as: ann,
      query: '{ viewer { user { mutuals { totalCount } } } }',
    })
    expect(data.viewer.user.mutuals.totalCount).toBe(3)
    expect(await mutualsOf(undefined, eve)).toMatchObject({ totalCount: 0, handles: [] })
  })

  test.each([
    [ann, eve],
    [eve, ann],
  ])(
    'a block by %s of %s hides the followees in common and their number from both',
    async (one, other) => {
      await app.services.restrictions.block(one, other)
      const nothing = { totalCount: 0, handles: [] }
      expect(await mutualsOf(ann, eve)).toMatchObject(nothing)
      expect(await mutualsOf(eve, ann)).toMatchObject(nothing)
      await app.services.restrictions.unblock(one, other)
      expect((await mutualsOf(ann, eve)).totalCount).toBe(3)
    },
  )

  test.each([
    ['the viewer', ann],
    ['the user', eve],
  ])('a followee who blocks %s is not counted', async (_, side) => {
    const { restrictions, follows } = app.services
    await restrictions.block(ben, side)
    expect(await mutualsOf(ann, eve)).toMatchObject({ totalCount: 2, handles: [dan, cat] })
    await restrictions.unblock(ben, side)
    await follows.follow(side, ben)
    await follows.follow(ben, side)
    const { totalCount } = await mutualsOf(ann, eve)
    expect(totalCount).toBe(3)
  })

  test('a cursor stays valid after the viewer unfollowed its user', async () => {
    const { follows } = app.services
    const { pageInfo, handles } = await mutualsOf(ann, eve, '(first: 1)')
    const [first] = handles as UserId[]
    await follows.unfollow(ann, first as UserId)
    const rest = await mutualsOf(ann, eve, `(first: 5, after: "${pageInfo.endCursor}")`)
    expect(rest.handles).toHaveLength(2)
    expect(rest.handles).not.toContain(first)
    await follows.follow(ann, first as UserId)
  })
})

describe('suggestions', () => {
  const all = [
    [eve, 3],
    [fay, 2],
    [gus, 1],
  ]

  test('followees of followees come by the number of common followees, in pages', async () => {
    expect((await suggestionsFor(ann)).counts).toEqual(all)
    const { counts, pageInfo } = await suggestionsFor(ann, '(first: 2)')
    expect([counts, pageInfo.hasNextPage]).toEqual([all.slice(0, 2), true])
    const rest = await suggestionsFor(ann, `(first: 2, after: "${pageInfo.endCursor}")`)
    expect([rest.counts, rest.pageInfo.hasNextPage]).toEqual([all.slice(2), false])
  })

  test('users that the viewer follows or muted are absent, and those with a block in either direction', async () => {
    const { follows, restrictions } = app.services
    const hide: Record<string, [() => Promise<unknown>, () => Promise<unknown>]> = {
      follow: [() => follows.follow(ann, eve), () => follows.unfollow(ann, eve)],
      mute: [() => restrictions.mute(ann, eve), () => restrictions.unmute(ann, eve)],
      block: [() => restrictions.block(ann, eve), () => restrictions.unblock(ann, eve)],
      'block by the user': [
        () => restrictions.block(eve, ann),
        () => restrictions.unblock(eve, ann),
      ],
    }
    for (const [name, [begin, end]] of Object.entries(hide)) {
      await begin()
      const { counts } = await suggestionsFor(ann)
      expect([name, counts.map(([user]) => user)]).toEqual([name, [fay, gus]])
      await end()
      expect((await suggestionsFor(ann)).counts).toEqual(all)
    }
    // A mute of another viewer hides no one.
    await restrictions.mute(hal, eve)
    expect((await suggestionsFor(ann)).counts).toEqual(all)
  })

  test('a mutation in the same request changes the list', async () => {
    const { data, errors } = await app.send({
      as: ann,
      query: `mutation { followUser(input: { user: { handle: "eve" } }) {
        viewer { suggestions { edges { node { handle } } } } } }`,
    })
    expect(errors).toEqual([])
    expect(handlesOf(data.followUser.viewer.suggestions.edges)).toEqual([fay, gus])
    await app.services.follows.unfollow(ann, eve)
  })

  test('an anonymous request has no suggestions, and a viewer who follows no one an empty list', async () => {
    const query = '{ viewer { suggestions { edges { cursor } } } }'
    expect((await app.send({ query })).data).toEqual({ viewer: null })
    expect((await suggestionsFor(hal)).counts).toEqual([])
  })

  test.each([
    ['a cursor of another list', encodeOpaque('Cursor', '0'.repeat(24))],
    ['no count', encodeOpaque('Suggestion', 'x', 'eve')],
    ['a count of zero', encodeOpaque('Suggestion', '0', 'eve')],
    ['no handle', encodeOpaque('Suggestion', '1', 'EVE!')],
    ['too many parts', encodeOpaque('Suggestion', '1', 'eve', 'x')],
    ['no text of a cursor', '?'],
  ])('a forged cursor is refused with the name of the argument: %s', async (_, cursor) => {
    const query = `{ viewer { suggestions(after: "${cursor}") { edges { cursor } } } }`
    const { errors } = await app.send({ as: ann, query })
    expect(errors.map(({ extensions }) => [extensions.code, extensions.argument])).toEqual([
      ['BAD_USER_INPUT', 'after'],
    ])
  })
})

describe('cost', () => {
  const costOf = async (query: string) => {
    const { extensions, errors } = await app.send({ as: ann, query })
    return { requested: extensions.cost.requested as number, refused: errors.length > 0 }
  }
  const nested = (first: number) =>
    `{ user(handle: "ann") { following(first: ${first}) { edges { node { mutuals(first: 0) { totalCount } } } } } }`

  test('the followees in common with each user of a page cost more the larger the page', async () => {
    const [one, hundred] = [await costOf(nested(1)), await costOf(nested(100))]
    expect(hundred.refused).toBe(false)
    expect(hundred.requested - one.requested).toBeGreaterThan(99 * 40)
    const deeper = `{ user(handle: "ann") { followers(first: 20) { edges { node {
      following(first: 20) { edges { node { mutuals(first: 0) { totalCount } } } } } } } } }`
    expect(await costOf(deeper)).toEqual({ requested: expect.any(Number), refused: true })
  })

  test('a request may read two dozen lists of suggestions, and no more', async () => {
    const aliases = (count: number) =>
      `{ viewer { ${Array.from({ length: count }, (_, n) => `s${n}: suggestions(first: 1) { edges { cursor } }`)} } }`
    expect(await costOf(aliases(24))).toMatchObject({ refused: false })
    const { requested, refused } = await costOf(aliases(25))
    expect([requested > limits.cost, refused]).toEqual([true, true])
  })
})
