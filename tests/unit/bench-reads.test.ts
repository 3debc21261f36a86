import { readFileSync } from 'node:fs'
import { buildSchema, coerceInputValue, parse, typeFromAST, validate } from 'graphql'
import { expect, test } from 'vitest'
import type { Graph } from '../../bench/feeds/graph.ts'
import { addAudience } from '../../bench/reads/audience.ts'
import { verifyPage } from '../../bench/reads/compare.ts'
import { page, pollOperation, readOperation } from '../../bench/reads/documents.ts'
import { computeKeys, formatKeys, isWithin, type ReadsRound } from '../../bench/reads/keys.ts'
import type { ReadResult } from '../../bench/reads/measure.ts'
import { isPostAt, pickAt, shuffle } from '../../bench/reads/plan.ts'
import { drawReadsCharts } from '../../bench/reads/plots.ts'
import { formatKeyTable, formatRowTables, medianRows } from '../../bench/reads/report.ts'
import { rivalName } from '../../bench/reads/rival-side.ts'
import type { RowName } from '../../bench/reads/rows.ts'
import { authorizationOf, verifyAuthorization } from '../../bench/tokens.ts'
import type { UserId } from '../../src/lib/ids.ts'

test('each block of the mix has six pages and one post, at another place', () => {
  const places = new Set<number>()
  for (let block = 0; block < 50; block++) {
    const posts = Array.from({ length: 7 }, (_, at) => isPostAt(block * 7 + at, 7))
    expect(posts.filter(Boolean)).toHaveLength(1)
    places.add(posts.indexOf(true))
  }
  expect(places.size).toBe(7)
})

test('each round asks all readers once, in another order that is the same for all sides', () => {
  const readers = Array.from({ length: 50 }, (_, at) => `reader${at}`)
  const first = shuffle(readers, 1)
  expect(first.toSorted()).toEqual(readers.toSorted())
  expect(shuffle(readers, 1)).toEqual(first)
  expect(shuffle(readers, 2)).not.toEqual(first)
})

test('the mix is the same in each run and picks every item', () => {
  const items = ['a', 'b', 'c', 'd']
  const picks = Array.from({ length: 200 }, (_, at) => pickAt(items, at, 3))
  expect(Array.from({ length: 200 }, (_, at) => pickAt(items, at, 3))).toEqual(picks)
  expect(new Set(picks).size).toBe(items.length)
  expect(() => pickAt([], 0, 1)).toThrow('nothing to pick')
})

test('the audience of reads joins a graph, whose composers keep about forty followers', () => {
  const users = Array.from({ length: 60 }, (_, at) => `p${at}` as UserId)
  const [popular] = users
  const followers = new Map(users.map((user) => [user, users.slice(0, user === popular ? 60 : 40)]))
  const people: Graph = { name: 'people', users, followers }
  const { graph, audience } = addAudience(people, { crowd: 2_000, speakers: 2, each: 3 })
  const countOf = (user: UserId) => graph.followers.get(user)?.length ?? 0
  const followeesOf = (user: UserId) =>
    [...graph.followers].flatMap(([followee, all]) =>
      all.filter((one) => one === user).map(() => followee),
    )
  expect(audience.composers).toHaveLength(59)
  expect(audience.composers.every((user) => countOf(user) === 40)).toBe(true)
  expect(audience.speakers.map(countOf)).toEqual([2_000, 2_000])
  expect(graph.followers.get(audience.hub)).toEqual(expect.arrayContaining([...audience.readers]))
  for (const [readers, count] of [
    [audience.few, 10],
    [audience.many, 1_000],
  ] as const)
    for (const reader of readers) {
      expect(followeesOf(reader)).toHaveLength(count)
      expect(new Set(followeesOf(reader)).size).toBe(count)
    }
  expect(new Set(graph.users).size).toBe(graph.users.length)
})

test('a token of the benchmark is verified: signature, algorithm and user', () => {
  const header = authorizationOf('ann')
  expect(verifyAuthorization(header)).toBe('ann')
  const [algorithm, , signature] = header.split('.')
  const forged = Buffer.from('{"sub":"bob","exp":9999999999}').toString('base64url')
  expect(() => verifyAuthorization(`${algorithm}.${forged}.${signature}`)).toThrow('not valid')
  expect(() => verifyAuthorization(header.replace(/^Bearer [^.]+/, 'Bearer e30'))).toThrow()
  expect(() => verifyAuthorization(undefined)).toThrow('not valid')
})

const resultOf = (perSecond: number, serverUs = 2_000): ReadResult => ({
  ...{ perSecond, serverUs, databaseUs: 1_000, p50Ms: 1, p99Ms: 2, count: 10, bytes: 100 },
})

const roundOf = (factor: number, withRival: boolean): ReadsRound => {
  const rowOf = (row: RowName, own: number, rival: number, serverUs?: number) => ({
    [row]: {
      FANOUT_ON_READ: resultOf(own * factor, serverUs),
      INBOX: resultOf(2 * own * factor, 1_000),
      ...(withRival ? { [rivalName]: resultOf(rival) } : {}),
    },
  })
  return {
    ...rowOf('first_hundred', 50, 50, 9_000),
    ...rowOf('page_first_visit', 300, 600, 3_000),
    ...rowOf('mix', 300, 600),
    ...rowOf('post_40', 480, 800),
  }
}
const strategies = ['FANOUT_ON_READ', 'INBOX'] as const
const memory = {
  FANOUT_ON_READ: [
    { atRestMb: 140, afterMixMb: Number.NaN },
    { atRestMb: 160, afterMixMb: Number.NaN },
    { atRestMb: 170, afterMixMb: 340 },
  ],
}
const log = {
  FANOUT_ON_READ: [
    { idle: { server: 0.01, database: 0 }, posts: { server: 0.03, database: 0.02 } },
  ],
}
const keysOf = (rounds: ReadsRound[]) => computeKeys({ rounds, memory, log }, strategies)

test('a key is the ratio of medians of the default strategy, with the quartiles of the rounds', () => {
  const formatted = formatKeys(keysOf([roundOf(1, true), roundOf(2, true), roundOf(4, true)]))
  expect(formatted).toMatchObject({
    mix_vs_postgres_apollo: 1,
    page_first_visit_vs_postgres_apollo: 1,
    post_40_vs_postgres_apollo: 1.2,
    first_hundred_vs_warm: 3,
    rss_at_rest_mb: 160,
    rss_after_mix_mb: 340,
    log_idle_core: 0.01,
    log_240_posts_core: 0.05,
  })
  expect(formatted.by_strategy).toMatchObject({
    mix_vs_postgres_apollo: { FANOUT_ON_READ: 1, INBOX: 2 },
    first_hundred_vs_warm: { FANOUT_ON_READ: 3, INBOX: 1 },
    rss_at_rest_mb: { INBOX: null },
  })
  expect(formatted.quartiles.mix_vs_postgres_apollo).toEqual([0.5, 2])
})

test('a bound is a least or a most, and a value on it is within it', () => {
  const keys = keysOf([roundOf(2, true)])
  const within = (key: string) => isWithin(keys[key] as NonNullable<(typeof keys)[string]>)
  expect(within('mix_vs_postgres_apollo')).toBe(true)
  expect(within('first_hundred_vs_warm')).toBe(true)
  expect(within('rss_at_rest_mb')).toBe(false)
  expect(within('log_idle_core')).toBe(true)
  expect(within('poll_304_vs_postgres_apollo')).toBe(undefined)
})

test('a key without a rival, a row or the default strategy is null and says why', () => {
  const keys = formatKeys(keysOf([roundOf(1, false)]))
  expect(keys).toMatchObject({ mix_vs_postgres_apollo: null, first_hundred_vs_warm: 3 })
  expect(keys.reasons).toMatchObject({
    mix_vs_postgres_apollo: expect.stringContaining('PostgreSQL was not found'),
    like_spread_vs_postgres_apollo: expect.stringContaining('did not measure'),
  })
  const others = computeKeys({ rounds: [roundOf(1, true)], memory, log }, ['INBOX'])
  expect(formatKeys(others)).toMatchObject({
    mix_vs_postgres_apollo: null,
    by_strategy: { mix_vs_postgres_apollo: { INBOX: 1 } },
    reasons: { mix_vs_postgres_apollo: expect.stringContaining('FANOUT_ON_READ') },
  })
})

test('the report marks a missed bound, and gives the processor time of each row', () => {
  const rounds = [roundOf(1, true)]
  const keys = formatKeyTable(keysOf(rounds)).split('\n')
  expect(keys).toContain('| `mix_vs_postgres_apollo` | **0.50** | 0.50–0.50 | 1.00 | ≥ 1 |')
  const tables = formatRowTables(medianRows(rounds))
  expect(tables).toContain('| mix, 6 pages : 1 post | per second')
  expect(tables).toContain('| FANOUT_ON_READ | 300 | 1.0 | 2.0 | 2,000 | 1,000 | 100 |')
  expect(tables).not.toContain('follow of another')
})

test('a chart has a point of each side that was measured', () => {
  const charts = drawReadsCharts(medianRows([roundOf(1, true), roundOf(3, true)]))
  const pointsOf = (name: keyof typeof charts) => charts[name].split('<circle').length - 1
  expect(pointsOf('pages')).toBe(2 * 3)
  expect(pointsOf('writes')).toBe(3)
  expect(pointsOf('polls')).toBe(0)
  expect(charts.pages).toContain(rivalName)
})

test('a page that differs in a flag, an order or a length fails the benchmark', () => {
  const post = (id: string, viewerHasLiked = false) => ({
    ...{ id, text: 'text', createdAt: '2024-01-01', likeCount: 0, viewerHasLiked },
    author: { handle: 'ann', name: 'Ann', avatarUrl: '' },
  })
  const verify = (actual: ReturnType<typeof post>[], expected: ReturnType<typeof post>[]) => () =>
    verifyPage('rival', 'bob', actual, expected)
  expect(verify([post('1'), post('2')], [post('1'), post('2')])).not.toThrow()
  expect(verify([post('1', true)], [post('1')])).toThrow('post 0 of bob')
  expect(verify([post('2'), post('1')], [post('1'), post('2')])).toThrow('post 0 of bob')
  expect(verify([post('1')], [post('1'), post('2')])).toThrow('post 1 of bob')
})

test('the documents of the benchmark are valid, and the poll of schema/operations takes its variables', () => {
  const schema = buildSchema(readFileSync('schema/schema.graphql', 'utf8'))
  const poll = readOperation(pollOperation.name)
  for (const text of [page, poll]) expect(validate(schema, parse(text))).toEqual([])
  const [operation] = parse(poll).definitions
  if (operation?.kind !== 'OperationDefinition') throw new Error('the poll is not first')
  const given: Record<string, unknown> = pollOperation.variables('cursor')
  const declared = (operation.variableDefinitions ?? []).map(({ variable, type, defaultValue }) => {
    const { value: name } = variable.name
    const inputType = typeFromAST(schema, type as never)
    if (given[name] !== undefined || !defaultValue)
      coerceInputValue(given[name], inputType as never)
    return name
  })
  expect(declared).toEqual(expect.arrayContaining(Object.keys(given)))
})
