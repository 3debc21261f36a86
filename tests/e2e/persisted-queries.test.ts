import fc from 'fast-check'
import { beforeAll, describe, expect, test } from 'vitest'
import { PersistedDocuments } from '../../src/graphql/persisted-documents.ts'
import type { AnsweredError, TestApp } from '../support/app.ts'
import { useApp } from '../support/app.ts'
import { labelsOf } from '../support/commands.ts'
import { recorded } from '../support/mongo.ts'
import { forgetDocuments, hashOf } from '../support/persisted-documents.ts'
import { lawSeed } from '../support/seed.ts'
import { handle, openAccounts } from '../support/services.ts'

const app = useApp({ FEED_STRATEGY: 'INBOX' })
const limited = useApp({ RATE_LIMIT_COST: '20000' })
const [ann, ben, cat] = ['ann', 'ben', 'cat'].map(handle) as [never, never, never]

beforeAll(async () => {
  await openAccounts(app.services, [ann, ben, cat])
  await openAccounts(limited.services, [ann, ben])
  for (const reader of [ann, ben]) await app.services.follows.follow(reader, cat)
  for (const text of ['first', 'second']) await app.services.posts.create(cat, { text })
  await app.rest()
})

/** A request for a document. */
interface Asked {
  readonly query?: string | undefined
  readonly hash?: string | undefined
  readonly variables?: object | undefined
  readonly operationName?: string | undefined
  readonly as?: string | undefined
  readonly headers?: Record<string, string>
}

async function ask(to: TestApp, method: 'GET' | 'POST', asked: Asked) {
  const { query, hash, variables, operationName, as, headers } = asked
  const extensions =
    hash === undefined ? undefined : { persistedQuery: { version: 1, sha256Hash: hash } }
  const members = { query, operationName, variables, extensions }
  const parameters = Object.entries(members).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, typeof value === 'string' ? value : JSON.stringify(value)]],
  )
  const url = `${to.url}/graphql`
  const signedIn = { ...(as === undefined ? {} : { authorization: `Dev ${as}` }), ...headers }
  const answer = await (method === 'GET'
    ? fetch(`${url}?${new URLSearchParams(parameters)}`, { headers: signedIn })
    : fetch(url, {
        method,
        headers: { ...signedIn, 'content-type': 'application/json' },
        body: JSON.stringify(members),
      }))
  const text = await answer.text()
  const { data, errors } = (text === '' ? {} : JSON.parse(text)) as {
    data?: unknown
    errors?: readonly AnsweredError[]
  }
  const code = errors?.[0]?.extensions.code ?? 'OK'
  return { status: answer.status, headers: answer.headers, data, code, text }
}
const codeOf = async (...asked: Parameters<typeof ask>) => {
  const { status, code } = await ask(...asked)
  return `${status} ${code}`
}

describe('a document is stored under its hash', () => {
  test.each(['GET', 'POST'] as const)('by %s, and executed by both methods', async (method) => {
    const query = `query By${method} { user(handle: "ann") { handle } }`
    const hash = hashOf(query)
    expect(await codeOf(app, method, { hash })).toBe('200 PERSISTED_QUERY_NOT_FOUND')
    const data = { user: { handle: 'ann' } }
    expect(await ask(app, method, { hash, query })).toMatchObject({ status: 200, data })
    for (const by of ['GET', 'POST'] as const)
      expect(await ask(app, by, { hash })).toMatchObject({ status: 200, data })
  })

  test('a mutation is executed by POST only', async () => {
    const query = 'mutation Stored { __typename }'
    const hash = hashOf(query)
    expect(await codeOf(app, 'GET', { hash, query })).toBe('405 BAD_REQUEST')
    expect(await codeOf(app, 'GET', { hash })).toBe('200 PERSISTED_QUERY_NOT_FOUND')
    expect(await codeOf(app, 'POST', { hash, query })).toBe('200 OK')
    expect(await codeOf(app, 'POST', { hash })).toBe('200 OK')
    expect(await codeOf(app, 'GET', { hash })).toBe('405 BAD_REQUEST')
  })
})

describe('is not stored', () => {
  const nested =
    '{ user(handle: "ann") { followers(first: 100) { edges { node { followers(first: 100) { edges { cursor } } } } } } }'
  test.each([
    ['a document that is no GraphQL', '{ user(', 'GRAPHQL_PARSE_FAILED'],
    ['a document of unknown fields', '{ nothing }', 'GRAPHQL_VALIDATION_FAILED'],
    ['a document beyond the limit of cost', nested, 'LIMIT_EXCEEDED'],
    ['a subscription', 'subscription { x }', 'GRAPHQL_VALIDATION_FAILED'],
    ['a document of 40 KB', `{ viewer { handle } }${' '.repeat(40_000)}`, 'OK'],
  ])('%s', async (_, query, code) => {
    const hash = hashOf(query)
    expect((await ask(app, 'POST', { hash, query })).code).toBe(code)
    expect(await codeOf(app, 'POST', { hash })).toBe('200 PERSISTED_QUERY_NOT_FOUND')
  })

  test.each([
    ['an operation that it does not have', { operationName: 'Other' }],
    ['wrong variables', { variables: { handle: 5 } }],
  ])('a document with %s', async (_, asked) => {
    const query = `query One($handle: String = "ann") { user(handle: $handle) { id } } # ${_}`
    const hash = hashOf(query)
    expect(await codeOf(app, 'POST', { hash, query, ...asked })).toMatch(/^200 (OP|BAD_USER)/)
    expect(await codeOf(app, 'POST', { hash })).toBe('200 PERSISTED_QUERY_NOT_FOUND')
    expect(await codeOf(app, 'POST', { hash, query })).toBe('200 OK')
    expect(await codeOf(app, 'POST', { hash })).toBe('200 OK')
  })

  test('a document under the hash of another one', async () => {
    const [query, other] = ['{ viewer { handle } } # 1', '{ viewer { handle } } # 2']
    const hash = hashOf(other)
    for (const method of ['GET', 'POST'] as const) {
      expect(await codeOf(app, method, { hash, query })).toBe('400 PERSISTED_QUERY_HASH_MISMATCH')
      const upper = hashOf(query).toUpperCase()
      expect(await codeOf(app, method, { hash: upper, query })).toBe(
        '400 PERSISTED_QUERY_HASH_MISMATCH',
      )
      expect(await codeOf(app, method, { hash })).toBe('200 PERSISTED_QUERY_NOT_FOUND')
    }
  })
})

test('stored documents take at most 8 MB, and the oldest ones leave first', async () => {
  const documents = new PersistedDocuments()
  const text = 'x'.repeat(32 * 1024)
  const count = 300
  for (let n = 0; n < count; n++) await documents.set(`${n}`, text)
  const found = await Promise.all(Array.from({ length: count }, (_, n) => documents.get(`${n}`)))
  const kept = found.filter((one) => one !== undefined).length
  expect(kept).toBeGreaterThan(200)
  expect(kept * text.length).toBeLessThanOrEqual(8 * 1024 ** 2)
  expect([found[0], found.at(-1)]).toEqual([undefined, text])
})

describe('a client with a rate limit', () => {
  const remainingOf = (headers: Headers) => Number(headers.get('ratelimit-remaining'))

  test('is charged for a document that it stores, by its size and once', async () => {
    const query = `{ viewer { handle } } # ${'x'.repeat(4_000)}`
    const asked = { hash: hashOf(query), query, as: 'ann' }
    const before = remainingOf((await ask(limited, 'POST', { query, as: 'ann' })).headers)
    const stored = remainingOf((await ask(limited, 'POST', asked)).headers)
    const again = remainingOf((await ask(limited, 'POST', asked)).headers)
    expect(before - stored).toBeGreaterThan(390)
    expect(stored - again).toBeLessThan(100)
  })

  test('is not charged for the storage of a document that is too large to be stored', async () => {
    const query = `{ viewer { handle } } # ${'x'.repeat(40_000)}`
    const before = remainingOf((await ask(limited, 'POST', { query, as: 'ann' })).headers)
    const { headers } = await ask(limited, 'POST', { hash: hashOf(query), query, as: 'ann' })
    expect(before - remainingOf(headers)).toBeLessThan(100)
  })

  test('stores nothing beyond its limit', async () => {
    const codes: string[] = []
    for (let n = 0; n < 9; n++) {
      const query = `{ viewer { handle } } # ${n} ${'x'.repeat(30_000)}`
      const hash = hashOf(query)
      codes.push((await ask(limited, 'POST', { hash, query, as: 'ben' })).code)
      const found = (await ask(limited, 'POST', { hash })).code
      expect(found).toBe(codes[n] === 'OK' ? 'OK' : 'PERSISTED_QUERY_NOT_FOUND')
    }
    expect(new Set(codes)).toEqual(new Set(['OK', 'RATE_LIMITED']))
  })
})

const timeline = 'query A($n: Int) { timeline(first: $n) { edges { node { text } } } }'
const others = 'query A($n: Int) { timeline(first: $n) { edges { node { id } } } }'
const several = `query A($n: Int) { timeline(first: $n) { edges { node { createdAt } } } }
  query B($n: Int) { timeline(first: $n) { edges { node { author { handle } } } } }`

describe('answers from memory', () => {
  test.each(['GET', 'POST'] as const)(
    'of a stored document by %s cost the read of their entries',
    async (method) => {
      const asked = { hash: hashOf(timeline), variables: { n: 2 }, as: 'ann' }
      await ask(app, method, { ...asked, query: timeline })
      for (let times = 0; times < 3; times++) await ask(app, method, asked)
      const { result, commands } = await recorded(app.database.client, () =>
        ask(app, method, asked),
      )
      expect(result.data).toMatchObject({ timeline: { edges: [{ node: { text: 'second' } }, {}] } })
      expect(labelsOf(commands)).toEqual(['read inbox'])
      if (method === 'POST') return
      const headers = { 'if-none-match': result.headers.get('etag') ?? '' }
      const again = await ask(app, 'GET', { ...asked, headers })
      expect([again.status, again.text]).toEqual([304, ''])
    },
  )

  test('do not answer a request that brings the document again after the server forgot it', async () => {
    const query = '{ timeline { edges { node { id text } } } }'
    const asked = { hash: hashOf(query), as: 'ben' }
    for (let times = 0; times < 3; times++) await ask(app, 'POST', { ...asked, query })
    await forgetDocuments(app)
    for (const method of ['POST', 'GET'] as const) {
      expect(await codeOf(app, method, asked)).toBe(
        method === 'POST' ? '200 PERSISTED_QUERY_NOT_FOUND' : '200 OK',
      )
      expect(await codeOf(app, method, { ...asked, query })).toBe('200 OK')
      expect(await codeOf(app, method, asked)).toBe('200 OK')
    }
  })

  test('are of the document that a request names, whatever was asked before', async () => {
    const names = [timeline, others, several, 'query C { x }']
    const expected = new Map<string, string>()
    const answerOf = async (asked: Asked): Promise<string> => {
      const key = JSON.stringify(asked)
      // Differs from all other requests, so that it is executed.
      const query = `${asked.query} # ${expected.size}`
      const text =
        expected.get(key) ?? JSON.stringify((await ask(app, 'POST', { ...asked, query })).data)
      expected.set(key, text)
      return text
    }
    const request = fc.record({
      method: fc.constantFrom('GET' as const, 'POST' as const),
      query: fc.constantFrom(...names),
      isSent: fc.boolean(),
      hashed: fc.constantFrom(undefined, ...names),
      n: fc.constantFrom(1, 2),
      operationName: fc.constantFrom(undefined, 'A', 'B'),
      as: fc.constantFrom('ann', 'ben', 'cat'),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(request, { minLength: 5, maxLength: 20 }), async (requests) => {
        for (const { method, query, isSent, hashed, n, operationName, as } of requests) {
          const given = isSent || hashed === undefined ? query : undefined
          const named = { variables: { n }, operationName, as }
          const hash = hashed === undefined ? undefined : hashOf(hashed)
          const { data, code } = await ask(app, method, { ...named, query: given, hash })
          if (given !== undefined && hashed !== undefined && given !== hashed) {
            expect(code).toBe('PERSISTED_QUERY_HASH_MISMATCH')
          } else if (code !== 'PERSISTED_QUERY_NOT_FOUND') {
            const wanted = await answerOf({ ...named, query: given ?? hashed })
            expect(JSON.stringify(data)).toBe(wanted)
          }
        }
      }),
      { numRuns: 12, ...lawSeed() },
    )
  })
})
