import { readFileSync } from 'node:fs'
import { buildSchema, coerceInputValue, parse, typeFromAST, validate } from 'graphql'
import { expect, test } from 'vitest'
import { verifyPage } from '../../bench/reads/compare.ts'
import type { ComposeResult } from '../../bench/reads/compose.ts'
import {
  immutablePage,
  pageWithCounts,
  pollOperation,
  profile,
  readOperation,
} from '../../bench/reads/documents.ts'
import { computeKeys, formatKeys, type ReadsRound } from '../../bench/reads/keys.ts'
import { loadNames, type ReadResult } from '../../bench/reads/loads.ts'
import { findSustainedRate, mixKindAt, pickAt } from '../../bench/reads/mix-plan.ts'
import { authorizationOf, verifyAuthorization } from '../../bench/tokens.ts'

test('each ten operations of the mix are six home pages, three profiles and one post', () => {
  const orders = new Set<string>()
  for (let block = 0; block < 50; block++) {
    const kinds = Array.from({ length: 10 }, (_, at) => mixKindAt(block * 10 + at, 7))
    const countOf = (kind: string) => kinds.filter((one) => one === kind).length
    expect([countOf('home'), countOf('profile'), countOf('compose')]).toEqual([6, 3, 1])
    orders.add(kinds.join())
  }
  expect(orders.size).toBeGreaterThan(5)
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

const resultOf = (perSecond: number, serverUs: number, databaseUs: number): ReadResult => ({
  ...{ perSecond, serverUs, databaseUs, p50Ms: 1, p99Ms: 2, count: 10, bytes: 100 },
})
const compose = (perSecond: number, us: number): ComposeResult => ({
  alone: resultOf(perSecond / 2, us, us),
  sixteen: resultOf(perSecond, us, us),
})
const rivals = { oneDocument: 'one document', checkedApollo: 'apollo', checkedPlain: 'plain' }

const roundOf = (factor: number, withRedis: boolean): ReadsRound => {
  const feedline = (rate: number) => ({
    [loadNames.pageUnchanged]: resultOf(rate * factor, 2_000, 1_000),
    [loadNames.pageChanged]: resultOf(rate * factor, 2_000, 1_000),
    [loadNames.pageWithCounts]: resultOf(rate * factor, 2_000, 1_000),
    [loadNames.poll]: resultOf(2 * rate * factor, 1_000, 500),
  })
  return {
    loads: {
      CACHE: feedline(400),
      INBOX: feedline(300),
      'one document': feedline(3_000),
      ...(withRedis ? { apollo: feedline(600), plain: feedline(1_500) } : {}),
    },
    mix: { CACHE: 200, INBOX: 300, ...(withRedis ? { apollo: 400 } : {}) },
    compose: {
      CACHE: compose(100, 3_000),
      INBOX: compose(200, 2_000),
      ...(withRedis ? { plain: compose(1_000, 100) } : {}),
    },
  }
}
const composeBefore = {
  rounds: [{ alone: { now: 5, before: 10 }, sixteen: { now: 1, before: 4 } }],
}
const kept = { CACHE: { rssMb: 2, usedMb: 1 }, INBOX: { rssMb: 5, usedMb: 0.5 } }

test('a key is the ratio of medians of the worse strategy, with the quartiles of the rounds', () => {
  const rounds = [roundOf(1, true), roundOf(2, true), roundOf(3, true)]
  const keys = formatKeys(
    computeKeys(
      { rounds, deliveriesPerSecond: [1, 3, 2], kept, composeBefore },
      rivals,
      'no Redis',
    ),
  )
  expect(keys).toMatchObject({
    page_unchanged_vs_one_document: 0.1,
    page_with_counts_vs_redis_checked_apollo: 0.5,
    page_unchanged_vs_redis_checked_plain: 0.2,
    poll_nothing_new_vs_one_document: 0.2,
    poll_vs_page_cpu: 0.5,
    mix_vs_redis_checked_apollo: 0.5,
    compose_cpu: { alone_ms: 6, sixteen_ms: 6 },
    compose_cpu_vs_before: { alone: 0.5, sixteen: 0.25 },
    compose_vs_redis: 0.1,
    inbox_deliveries_per_second: 2,
    rss_kept_mb: 5,
    used_kept_mb: 1,
    poll_304_vs_one_document: null,
  })
  expect(keys.quartiles.inbox_deliveries_per_second).toEqual([1, 3])
  expect(keys.reasons).toEqual({
    poll_304_vs_one_document: expect.stringContaining('ETag'),
    poll_304_vs_redis_checked_plain: expect.stringContaining('ETag'),
  })
})

test('a key without a rival is null and says why', () => {
  const rounds = [roundOf(1, false)]
  const given = {
    ...{ rounds, deliveriesPerSecond: [undefined], kept },
    composeBefore: { reason: 'no history' },
  }
  const keys = formatKeys(computeKeys(given, rivals, 'no Redis'))
  expect(keys).toMatchObject({ mix_vs_redis_checked_apollo: null, compose_vs_redis: null })
  expect(keys.reasons).toMatchObject({
    mix_vs_redis_checked_apollo: 'no Redis',
    compose_cpu_vs_before_alone: 'no history',
    inbox_deliveries_per_second: expect.stringContaining('another number of entries'),
  })
  expect(keys).toMatchObject({ page_unchanged_vs_one_document: 0.1 })
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
