import { readFileSync } from 'node:fs'
import { buildSchema, coerceInputValue, parse, typeFromAST, validate } from 'graphql'
import { expect, test } from 'vitest'
import { verifyPage } from '../../bench/reads/compare.ts'
import {
  immutablePage,
  pageWithCounts,
  pollOperation,
  profile,
  readOperation,
} from '../../bench/reads/documents.ts'
import { computeKeys, formatKeys, isWithin, type ReadsRound } from '../../bench/reads/keys.ts'
import type { ReadResult, SideResults } from '../../bench/reads/loads.ts'
import {
  findSustainedRate,
  mixes,
  mixKindAt,
  pickAt,
  shuffleReaders,
} from '../../bench/reads/mix-plan.ts'
import { drawReadsCharts } from '../../bench/reads/plots.ts'
import { formatKeyTable, formatLoadTables } from '../../bench/reads/report.ts'
import { rivalNames } from '../../bench/reads/rival-names.ts'
import type { LoadName } from '../../bench/reads/side.ts'
import { authorizationOf, verifyAuthorization } from '../../bench/tokens.ts'

test.each([
  ['pagesAndPosts', 7, [6, 0, 1]],
  ['everything', 10, [6, 3, 1]],
] as const)(
  'each block of the mix %s has %d operations with exact shares',
  (name, length, shares) => {
    const orders = new Set<string>()
    for (let block = 0; block < 50; block++) {
      const kinds = Array.from({ length }, (_, at) =>
        mixKindAt(mixes[name], block * length + at, 7),
      )
      const countOf = (kind: string) => kinds.filter((other) => other === kind).length
      expect([countOf('home'), countOf('profile'), countOf('compose')]).toEqual(shares)
      orders.add(kinds.join())
    }
    expect(orders.size).toBeGreaterThan(5)
  },
)

test('each round asks all readers once, in another order that is the same for all sides', () => {
  const readers = Array.from({ length: 50 }, (_, at) => `reader${at}`)
  const first = shuffleReaders(readers, 1)
  expect(first.toSorted()).toEqual(readers.toSorted())
  expect(shuffleReaders(readers, 1)).toEqual(first)
  expect(shuffleReaders(readers, 2)).not.toEqual(first)
})

test('the mix is the same in each run and picks every item', () => {
  const items = ['a', 'b', 'c', 'd']
  const picks = Array.from({ length: 200 }, (_, at) => pickAt(items, at, 3))
  expect(Array.from({ length: 200 }, (_, at) => pickAt(items, at, 3))).toEqual(picks)
  expect(new Set(picks).size).toBe(items.length)
  expect(() => pickAt([], 0, 1)).toThrow('nothing to pick')
})

test('the sustained rate rises by 15 % until it fails twice', async () => {
  const tried: number[] = []
  const sustained = await findSustainedRate(200, async (rate) => {
    tried.push(rate)
    return rate <= 300
  })
  expect(sustained).toBe(265)
  expect(tried).toEqual([200, 230, 265, 305, 305])
})

test('one failure does not end the search, and a first rate that is too high is halved', async () => {
  let failures = 1
  const sustained = await findSustainedRate(400, async (rate) => rate <= 110 && failures-- <= 0)
  expect(sustained).toBe(100)
  expect(await findSustainedRate(200, async () => false)).toBe(0)
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
const loadsOf = (rates: Partial<Record<LoadName, number>>): SideResults =>
  Object.fromEntries(Object.entries(rates).map(([load, rate]) => [load, resultOf(rate)]))

const roundOf = (factor: number, withRivals: boolean): ReadsRound => {
  const feedline = (rate: number, firstUs: number): SideResults => ({
    ...loadsOf({ mix: rate * factor, changed: rate * factor, kept: rate, compose: rate * factor }),
    firstVisit: resultOf(rate * factor),
    firstRequests: resultOf(50, firstUs),
  })
  const rivals = {
    [rivalNames.postgresApollo]: loadsOf({ mix: 600, firstVisit: 600, kept: 150, compose: 1_000 }),
    [rivalNames.redisPlain]: loadsOf({ compose: 800 }),
  }
  return {
    loads: {
      CACHE: feedline(300, 9_000),
      INBOX: feedline(400, 4_000),
      [rivalNames.oneDocument]: loadsOf({ changed: 3_000 }),
      [rivalNames.bareGrouped]: loadsOf({ compose: 500 }),
      ...(withRivals ? rivals : {}),
    },
    openMix: { CACHE: 200, INBOX: 300, ...(withRivals ? { [rivalNames.redisApollo]: 400 } : {}) },
  }
}
const memoryOf = (rssAtRestMb: number) => ({
  ...{ rssAtRestMb, rssAfterMixMb: 200, rssPer1000ReadersMb: 10, usedPer1000ReadersMb: 5 },
})
const memory = { CACHE: memoryOf(110), INBOX: memoryOf(130) }

test('a key is the ratio of medians of the worse strategy, with the quartiles of the rounds', () => {
  const rounds = [roundOf(1, true), roundOf(2, true), roundOf(3, true)]
  const keys = computeKeys({ rounds, memory })
  expect(Object.keys(keys).slice(0, 2)).toEqual([
    'mix_vs_postgres_apollo',
    'mix_open_vs_postgres_apollo',
  ])
  const formatted = formatKeys(keys)
  expect(formatted).toMatchObject({
    mix_vs_postgres_apollo: 1,
    page_first_visit_vs_postgres_apollo: 1,
    page_kept_with_counts_vs_postgres_apollo: 2,
    compose_inbox_vs_postgres_apollo: 0.8,
    compose_cache_vs_postgres_apollo: 0.6,
    compose_inbox_vs_bare_grouped: 1.6,
    compose_inbox_vs_redis_fsync: 1,
    compose_cache_vs_redis_fsync: 0.75,
    page_changed_vs_one_document: 0.2,
    mix_vs_redis_checked_apollo: 0.5,
    first_requests_vs_warm: 4.5,
    rss_at_rest_mb: 130,
    mix_open_vs_postgres_apollo: null,
  })
  expect(formatted.by_strategy).toMatchObject({
    mix_vs_postgres_apollo: { CACHE: 1, INBOX: 800 / 600 },
    compose_inbox_vs_bare_grouped: { INBOX: 1.6 },
    first_requests_vs_warm: { CACHE: 4.5, INBOX: 2 },
  })
  expect(formatted.quartiles.mix_vs_postgres_apollo).toEqual([0.5, 1.5])
})

test('a bound is a least or a most, and a value on it is within it', () => {
  const keys = computeKeys({ rounds: [roundOf(2, true)], memory })
  const within = (key: string) => isWithin(keys[key] as NonNullable<(typeof keys)[string]>)
  expect(within('page_first_visit_vs_postgres_apollo')).toBe(true)
  expect(within('page_changed_vs_one_document')).toBe(false)
  expect(within('first_requests_vs_warm')).toBe(false)
  expect(within('rss_at_rest_mb')).toBe(false)
  expect(within('rss_after_mix_mb')).toBe(undefined)
  expect(within('poll_304_vs_redis_checked_plain')).toBe(undefined)
})

test('a key without a rival is null and says why', () => {
  const keys = formatKeys(computeKeys({ rounds: [roundOf(1, false)], memory }))
  expect(keys).toMatchObject({ mix_vs_postgres_apollo: null, compose_inbox_vs_redis_fsync: null })
  expect(keys.reasons).toMatchObject({
    mix_vs_postgres_apollo: expect.stringContaining('PostgreSQL was not found'),
    compose_inbox_vs_redis_fsync: expect.stringContaining('redis-server was not found'),
  })
  expect(keys).toMatchObject({ page_changed_vs_one_document: 0.1 })
})

test('the report begins with the mixes, marks a missed bound and names the promise of each side', () => {
  const rounds = [roundOf(1, true)]
  const keys = formatKeyTable(computeKeys({ rounds, memory })).split('\n')
  expect(keys[2]).toBe('| `mix_vs_postgres_apollo` | **0.50** | 0.50–0.50 | 0.50 | 0.67 | ≥ 0.8 |')
  const tables = formatLoadTables(rounds, { INBOX: 'durable' })
  const heads = tables.split('\n').filter((line) => line.includes('promise'))
  expect(heads[0]).toContain('mix, 6 pages : 1 post')
  expect(heads[1]).toContain('open loop')
  expect(tables).toContain('| INBOX | 400 | 1.0 | 2.0 | 2,000 | 1,000 | 100 | durable |')
})

test('a chart has a point of each side that was measured', () => {
  const charts = drawReadsCharts([roundOf(1, true), roundOf(3, true)])
  const pointsOf = (name: keyof typeof charts) => charts[name].split('<circle').length - 1
  expect(pointsOf('pages')).toBe(2 * 4 + 3 + 1)
  expect(pointsOf('writes')).toBe(5)
  expect(pointsOf('polls')).toBe(0)
  expect(charts.pages).toContain('PG, Apollo')
  expect(charts.writes).not.toContain('one document')
})

test('a page that differs in a flag, an order or a length fails the benchmark', () => {
  const post = (id: string, viewerHasLiked = false) => ({
    ...{ id, text: 'text', createdAt: '2024-01-01', author: { handle: 'ann' }, viewerHasLiked },
  })
  const verify = (actual: ReturnType<typeof post>[], expected: ReturnType<typeof post>[]) => () =>
    verifyPage('rival', 'bob', 'counts', actual, expected)
  expect(verify([post('1'), post('2')], [post('1'), post('2')])).not.toThrow()
  expect(verify([post('1', true)], [post('1')])).toThrow('post 0 of bob')
  expect(verify([post('2'), post('1')], [post('1'), post('2')])).toThrow('post 0 of bob')
  expect(verify([post('1')], [post('1'), post('2')])).toThrow('post 1 of bob')
})

test('the documents of the benchmark are valid, and the poll of schema/operations takes its variables', () => {
  const schema = buildSchema(readFileSync('schema/schema.graphql', 'utf8'))
  const poll = readOperation(pollOperation.name)
  for (const text of [immutablePage, pageWithCounts, profile('String'), poll])
    expect(validate(schema, parse(text))).toEqual([])
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
