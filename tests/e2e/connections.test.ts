import { beforeAll, describe, expect, test } from 'vitest'
import { postNodeId, userNodeId } from '../../src/graphql/node-id.ts'
import type { UserId } from '../../src/lib/ids.ts'
import { encodeOpaque } from '../../src/lib/opaque.ts'
import { useApp } from '../support/app.ts'
import { type ConnectionList, ConnectionLists, made } from '../support/connection-lists.ts'
import { share } from '../support/repetition.ts'
import { handle, openAccounts } from '../support/services.ts'

/** Relay's four arguments. A cursor is a place in the list of all items, also removed items. */
interface Window {
  readonly first?: number
  readonly last?: number
  readonly after?: number
  readonly before?: number
}

const app = useApp()
const source = new ConnectionLists(app)
const { lists } = source
/** The removed places: both ends and the middle. Seven items remain. */
const removed = [0, 4, 9]

beforeAll(() => openAccounts(app.services, source.people))

const page = '{ edges { cursor } pageInfo { startCursor endCursor hasNextPage hasPreviousPage } }'

/** The answers of one request to many uses of a list's field, by alias. */
async function asked(list: ConnectionList, owner: UserId, uses: readonly string[]) {
  const fields = uses.map((given, at) => {
    const inside = [list.arguments, given].filter((text) => text).join(', ')
    return `w${at}: ${list.field}${inside ? `(${inside})` : ''} ${page}`
  })
  const post = list.inside === 'node' ? postNodeId(await source.postOf(owner)) : ''
  const wrap = {
    user: (inner: string) => `user(handle: "${owner}") { ${inner} }`,
    viewer: (inner: string) => `viewer { ${inner} }`,
    node: (inner: string) => `node(id: "${post}") { ... on Post { ${inner} } }`,
  }
  const query = list.inside ? wrap[list.inside](`${fields}`) : `${fields}`
  const { data, errors } = await app.send({ as: list.viewer ?? owner, query: `{ ${query} }` })
  const found = list.inside ? data?.[list.inside] : data
  return { errors, pages: uses.map((_, at) => found?.[`w${at}`]) }
}

async function pageOf(list: ConnectionList, owner: UserId, given: string) {
  const { errors, pages } = await asked(list, owner, [given])
  expect(errors).toEqual([])
  return { ...pages[0], cursors: cursorsOf(pages[0]) }
}

const cursorsOf = ({ edges }: { edges: { cursor: string }[] }) => edges.map(({ cursor }) => cursor)

/** The algorithm of https://relay.dev/graphql/connections.htm, applied to the whole list. */
function relay(cursors: readonly string[], { first, last, after, before }: Window) {
  const live = cursors
    .map((cursor, at) => ({ cursor, at }))
    .filter(({ at }) => !removed.includes(at))
  const inside = live.filter(
    ({ at }) => (after === undefined || at > after) && (before === undefined || at < before),
  )
  const size = first ?? last ?? 20
  const start = last === undefined ? 0 : Math.max(0, inside.length - size)
  const edges = inside.slice(start, start + size).map(({ cursor }) => ({ cursor }))
  const beyond = inside.length > size
  return {
    edges,
    pageInfo: {
      startCursor: edges[0]?.cursor ?? null,
      endCursor: edges.at(-1)?.cursor ?? null,
      hasNextPage: (last === undefined && beyond) || live.some(({ at }) => at >= (before ?? made)),
      hasPreviousPage: (last !== undefined && beyond) || live.some(({ at }) => at <= (after ?? -1)),
    },
  }
}

const bounds = [undefined, ...Array.from({ length: made }, (_, at) => at)]
const sizes = [{}, ...[0, 1, 3, 7].flatMap((size) => [{ first: size }, { last: size }])]
const windows: readonly Window[] = share(
  20,
  bounds.flatMap((after) =>
    bounds.flatMap((before) =>
      sizes.map((size) => ({
        ...size,
        ...(after === undefined ? {} : { after }),
        ...(before === undefined ? {} : { before }),
      })),
    ),
  ),
)

describe.each(Object.keys(lists))('%s', (name) => {
  const list = lists[name] as ConnectionList
  const owner = handle(`owner-of-${name.replaceAll(' ', '-')}`)
  const lonely = handle(`lonely-${name.replaceAll(' ', '-')}`)
  /** The cursors of all items, also removed items, in the order of the list. */
  let cursors: string[]

  beforeAll(async () => {
    await openAccounts(app.services, [owner, lonely, ...(list.viewer ? [list.viewer] : [])])
    const removals: (() => Promise<unknown>)[] = []
    for (let n = 0; n < made; n++) removals.unshift(await list.add(owner, n))
    cursors = (await pageOf(list, owner, '')).cursors
    expect(new Set(cursors).size).toBe(made)
    for (const at of removed) await removals[at]?.()
  })

  const text = ({ after, before, ...size }: Window) =>
    Object.entries({ ...size, after: cursors[after ?? -1], before: cursors[before ?? -1] })
      .filter(([, value]) => value !== undefined)
      .map(([argument, value]) => `${argument}: ${JSON.stringify(value)}`)
      .join(', ')

  test('every window of a connection is as Relay defines it, also between cursors of deleted items', async () => {
    for (let from = 0; from < windows.length; from += 8) {
      const some = windows.slice(from, from + 8)
      const { errors, pages } = await asked(list, owner, some.map(text))
      expect(errors).toEqual([])
      const found = pages.map((connection, at) => [some[at], connection])
      expect(found).toEqual(some.map((window) => [window, relay(cursors, window)]))
    }
  })

  test('walks by cursor return every item once, in the same order in both directions', async () => {
    const all = (await pageOf(list, owner, 'first: 100')).cursors
    expect(all).toHaveLength(made - removed.length)
    const forward: string[] = []
    const backward: string[] = []
    for (let given = 'first: 2'; given; ) {
      const { cursors: some, pageInfo } = await pageOf(list, owner, given)
      forward.push(...some)
      given = pageInfo.hasNextPage ? `first: 2, after: "${pageInfo.endCursor}"` : ''
    }
    for (let given = 'last: 2'; given; ) {
      const { cursors: some, pageInfo } = await pageOf(list, owner, given)
      backward.unshift(...some)
      given = pageInfo.hasPreviousPage ? `last: 2, before: "${pageInfo.startCursor}"` : ''
    }
    expect({ forward, backward }).toEqual({ forward: all, backward: all })
  })

  test('an empty connection has no cursors and no next or previous page', async () => {
    const nothing = {
      startCursor: null,
      endCursor: null,
      hasNextPage: false,
      hasPreviousPage: false,
    }
    const cursor = cursors[3]
    const some = ['', 'first: 0', 'last: 5', `after: "${cursor}"`, `last: 3, before: "${cursor}"`]
    const { errors, pages } = await asked(list, lonely, some)
    expect(errors).toEqual([])
    expect(pages).toEqual(some.map(() => ({ edges: [], pageInfo: nothing })))
  })

  test('invalid page sizes and foreign cursors are refused with the name of the argument', async () => {
    const foreign =
      list.field === 'groups'
        ? encodeOpaque('Cursor', 'a'.repeat(24))
        : encodeOpaque('Name', 'a'.repeat(24))
    const wrong = [
      ['first', 'first: -1'],
      ['last', 'last: -1'],
      ['first', 'first: 101'],
      ['last', 'last: 101'],
      ['first', 'first: 2147483647'],
      ['last', 'first: 1, last: 1'],
      ...['after', 'before'].flatMap((argument) =>
        ['garbage', userNodeId(owner), foreign, `${cursors[0]}A`, 'A'.repeat(600)].map((cursor) => [
          argument,
          `${argument}: "${cursor}"`,
        ]),
      ),
    ]
    for (const [argument, given] of wrong) {
      const { errors } = await asked(list, owner, [given as string])
      expect(errors, given).toHaveLength(1)
      expect(errors[0]?.extensions, given).toMatchObject({ code: 'BAD_USER_INPUT', argument })
    }
  })

  test('a null argument of a connection counts as absent', async () => {
    const given = ['last: 3, first: null, after: null', 'first: null, last: null, before: null']
    const { pages } = await asked(list, owner, given)
    expect(pages).toEqual([relay(cursors, { last: 3 }), relay(cursors, {})])
  })
})

describe('polling with the first cursor held', () => {
  const timeline = lists.timeline as ConnectionList
  const [owner, writer] = [handle('poller'), handle('polled')]
  const add = (n: number) => source.publish(n % 2 === 0 ? owner : writer)

  beforeAll(async () => {
    await openAccounts(app.services, [owner, writer])
    await source.follow(owner, writer)
  })

  test('polling with before returns exactly the new items, also after the item of the cursor is deleted', async () => {
    const old = [await add(0), await add(1)]
    const held = (await pageOf(timeline, owner, 'first: 1')).cursors[0]
    const poll = (before: string | null) => pageOf(timeline, owner, `last: 2, before: "${before}"`)
    const { edges, pageInfo } = await poll(held)
    expect(edges).toEqual([])
    expect(pageInfo).toMatchObject({ startCursor: null, hasPreviousPage: false, hasNextPage: true })

    for (let n = 0; n < 5; n++) await add(n)
    await old[1]?.()
    const sizes: number[] = []
    const fresh: string[] = []
    for (let before = held, more = true; more; ) {
      const next = await poll(before)
      sizes.push(next.cursors.length)
      fresh.unshift(...next.cursors)
      before = next.pageInfo.startCursor
      more = next.pageInfo.hasPreviousPage
    }
    expect(sizes).toEqual([2, 2, 1])
    const all = (await pageOf(timeline, owner, 'first: 100')).cursors
    expect(all).toHaveLength(6)
    expect(fresh).toEqual(all.slice(0, 5))
    expect((await poll(all[0])).cursors).toEqual([])
  })
})
