import { describe, expect, test } from 'vitest'
import { type ErrorCode, errorCodes } from '../../src/errors.ts'
import { type Answer, type GraphqlRequest, useApp } from '../support/app.ts'
import { type Failure, failCommand } from '../support/mongo.ts'
import { handle, openAccounts } from '../support/services.ts'

const app = useApp({ CORS_ORIGINS: 'https://app.example' })
const ann = handle('ann')
const bob = handle('bob')

/** A request that meets an error, and what of the answer is particular to it. */
interface Case {
  readonly request: GraphqlRequest
  /** The HTTP status under `application/graphql-response+json`. Errors of a field come with 200. */
  readonly status: number
  readonly argument?: string
  readonly limit?: string
  readonly failure?: Failure
}

const signedIn = { authorization: 'Dev ann' }
const mutation = (field: string, input: string) =>
  `mutation { ${field}(input: ${input}) { clientMutationId } }`
const cases = {
  BAD_USER_INPUT: {
    request: { headers: signedIn, query: '{ timeline(first: -1) { edges { cursor } } }' },
    status: 200,
    argument: 'first',
  },
  GRAPHQL_PARSE_FAILED: { request: { query: '{ viewer { ' }, status: 400 },
  GRAPHQL_VALIDATION_FAILED: { request: { query: '{ viewr { handle } }' }, status: 400 },
  OPERATION_RESOLUTION_FAILURE: {
    request: { query: 'query A { viewer { handle } }', operationName: 'B' },
    status: 400,
  },
  BAD_REQUEST: { request: { body: '{"query":' }, status: 400 },
  LIMIT_EXCEEDED: {
    request: { query: `{ viewer { ${'handle '.repeat(2001)} } }` },
    status: 400,
    limit: 'tokens',
  },
  UNAUTHENTICATED: {
    request: { headers: { authorization: 'Bearer x' }, query: '{ viewer { handle } }' },
    status: 401,
  },
  FORBIDDEN: {
    request: {
      headers: signedIn,
      query: '{ user(handle: "bob") { following(group: "close") { edges { cursor } } } }',
    },
    status: 200,
    argument: 'group',
  },
  NOT_FOUND: {
    request: { headers: signedIn, query: mutation('followUser', '{handle: "nobody"}') },
    status: 200,
  },
  CONFLICT: {
    request: { headers: signedIn, query: mutation('createUser', '{name: "Ann"}') },
    status: 200,
  },
  PAYLOAD_TOO_LARGE: { request: { query: 'x'.repeat(100_001) }, status: 413 },
  INTERNAL_SERVER_ERROR: {
    request: { query: '{ user(handle: "ann") { name } }' },
    status: 200,
    failure: { failCommands: ['find'], errorCode: 8000 },
  },
  UNAVAILABLE: {
    request: { query: '{ user(handle: "ann") { name } }' },
    status: 200,
    failure: { failCommands: ['find'], closeConnection: true },
  },
} satisfies Record<ErrorCode, Case>

const inner = /mongo|bson|node_modules|\bat .*:\d+:\d+|failpoint|apollo|\.ts\b/i
/** Under the older content type a document that is wrong is an answer like any other. */
const documentErrors = new Set<ErrorCode>([
  'GRAPHQL_PARSE_FAILED',
  'GRAPHQL_VALIDATION_FAILED',
  'OPERATION_RESOLUTION_FAILURE',
])

async function meet({ request, failure }: Case, accept: string): Promise<Answer> {
  const headers = { accept, ...request.headers }
  if (!failure) return app.send({ ...request, headers })
  await using _ = await failCommand(app.database.client, failure)
  return await app.send({ ...request, headers })
}

describe('every code', () => {
  test('people to meet them', async () => {
    await openAccounts(app.services, [ann, bob])
  })

  test.each(Object.entries(cases) as [ErrorCode, Case][])('%s', async (code, wanted) => {
    const before = await contents()
    for (const accept of ['application/graphql-response+json', 'application/json']) {
      const result = await meet(wanted, accept)
      const [error] = result.errors
      expect(error?.extensions).toEqual({
        code,
        requestId: result.headers.get('x-request-id'),
        ...(wanted.argument ? { argument: wanted.argument } : {}),
        ...(wanted.limit ? { limit: wanted.limit } : {}),
      })
      expect(error?.message).not.toMatch(inner)
      const legacy = accept === 'application/json' && documentErrors.has(code)
      expect(result.status).toBe(legacy ? 200 : wanted.status)
    }
    expect(await contents()).toEqual(before)
  })

  test('has a meaning that can be asked for', async () => {
    for (const [code, { meaning }] of Object.entries(errorCodes)) {
      const { data } = await app.send({ query: `{ errorMeaning(code: ${code}) }` })
      expect(data.errorMeaning).toBe(meaning)
    }
  })

  test('of the server’s own is logged once, with its cause, under the request’s id', async () => {
    const seen = app.logged.length
    const { headers } = await meet(cases.INTERNAL_SERVER_ERROR, 'application/json')
    const lines = app.logged.slice(seen).map((line) => JSON.parse(line))
    expect(lines).toHaveLength(1)
    expect(lines[0].requestId).toBe(headers.get('x-request-id'))
    expect(JSON.stringify(lines[0])).toMatch(/8000|failpoint/i)
  })
})

async function contents() {
  const { users, user_stats, followers, posts } = app.services.collections
  return Promise.all([users, user_stats, followers, posts].map((one) => one.countDocuments()))
}

describe('a variable that does not fit', () => {
  const query =
    'query ($h: String!, $n: Int, $s: FeedStrategy) { user(handle: $h) { handle followers(first: $n) { edges { cursor } } } timeline(strategy: $s) { strategy } }'
  test.each([
    ['is missing', {}],
    ['is of another type', { h: { $ne: 1 } }],
    ['is no number of 32 bits', { h: 'ann', n: 3e10 }],
    ['is not of the enum', { h: 'ann', s: 'CASH' }],
  ])('%s', async (_, variables) => {
    const seen = app.logged.length
    const headers = { accept: 'application/graphql-response+json' }
    const { status, errors } = await app.send({ query, variables, headers })
    expect([status, errors[0]?.extensions.code]).toEqual([400, 'BAD_USER_INPUT'])
    expect(errors[0]?.message).not.toMatch(/did you mean/i)
    expect(app.logged.slice(seen)).toEqual([])
  })
})

test.each([
  ['a field', '{ viewr { handle } }'],
  ['an argument', '{ user(handl: "ann") { name } }'],
  ['a type', '{ node(id: "x") { ... on Usr { name } } }'],
  ['an enum value', '{ timeline(strategy: CASHE) { strategy } }'],
])('a misspelt name of %s gives away no right one', async (_, query) => {
  const { errors } = await app.send({ query })
  expect(errors.length).toBeGreaterThan(0)
  for (const { message } of errors) expect(message).not.toMatch(/did you mean/i)
})

test.each(['__proto__', 'constructor', '$ne', 'a.b', '$where'])(
  'the group %s is a name like any other',
  async (group) => {
    const { data, errors } = await app.send({
      as: 'ann',
      query: 'query ($g: String!) { timeline(group: $g) { edges { cursor } } }',
      variables: { g: group },
    })
    expect(errors).toEqual([])
    expect(data.timeline.edges).toEqual([])
  },
)

describe('what is not a GraphQL request', () => {
  test.each([
    ['another path', '/nothing', {}, 404, 'NOT_FOUND'],
    ['a malformed URL', '/%zz', {}, 400, 'BAD_REQUEST'],
    ['another method', '/graphql', { method: 'PUT' }, 405, 'BAD_REQUEST'],
    [
      'another content type',
      '/graphql',
      { method: 'POST', body: 'x', headers: { 'content-type': 'text/xml' } },
      415,
      'BAD_REQUEST',
    ],
    [
      'a compressed body',
      '/graphql',
      {
        method: 'POST',
        body: '{}',
        headers: { 'content-type': 'application/json', 'content-encoding': 'gzip' },
      },
      415,
      'BAD_REQUEST',
    ],
    [
      'no query',
      '/graphql',
      { method: 'POST', body: '{}', headers: { 'content-type': 'application/json' } },
      400,
      'BAD_REQUEST',
    ],
  ])('%s', async (_, path, request, status, code) => {
    const response = await fetch(`${app.url}${path}`, request as RequestInit)
    const { errors } = (await response.json()) as Answer
    expect(response.status).toBe(status)
    expect(errors[0]?.extensions.code).toBe(code)
    expect(response.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/)
    expect(errors[0]?.message).not.toMatch(inner)
  })
})

test('a browser may call from the origins of the configuration, and from no other', async () => {
  const preflight = async (origin: string) => {
    const asked = {
      origin,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'content-type',
    }
    return (await fetch(`${app.url}/graphql`, { method: 'OPTIONS', headers: asked })).headers.get(
      'access-control-allow-origin',
    )
  }
  expect(await preflight('https://app.example')).toBe('https://app.example')
  expect(await preflight('https://evil.example')).toBeNull()
})
