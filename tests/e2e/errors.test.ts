import { beforeAll, describe, expect, test } from 'vitest'
import { type ErrorCode, errorCodes } from '../../src/errors.ts'
import { messageLengthMax } from '../../src/graphql/errors.ts'
import { encodeOpaque } from '../../src/lib/opaque.ts'
import { release } from '../../src/lib/release.ts'
import { type Answer, type GraphqlRequest, useApp } from '../support/app.ts'
import { type Failure, failCommand, type RecordedCommand, recorded } from '../support/mongo.ts'
import { handle, openAccounts } from '../support/services.ts'

const app = useApp()
const limited = useApp({ RATE_LIMIT_COST: '20000' })
const modern = 'application/graphql-response+json'
const legacy = 'application/json'

beforeAll(async () => {
  await openAccounts(app.services, [handle('ann'), handle('bob')])
  await app.services.follows.follow(handle('ann'), handle('bob'))
})

/** A request with an error, and the parts of the answer that are specific to it. */
interface Case {
  readonly request: GraphqlRequest
  /**
   * The HTTP status under `application/graphql-response+json`. Errors of a field come with 200, but
   * UNAVAILABLE.
   */
  readonly status: number
  /** The HTTP status under `application/json`, if it differs. */
  readonly legacyStatus?: number
  readonly argument?: string
  /** What is wrong with the argument. */
  readonly problem?: string
  readonly limit?: string
  readonly failure?: Failure
  /** Whether another request has used up the rate limit of the client. */
  readonly isLimited?: true
}

const mutation = (field: string, input: string): GraphqlRequest => ({
  as: 'ann',
  query: `mutation { ${field}(input: ${input}) { clientMutationId } }`,
})
const readAnn = { query: '{ user(handle: "ann") { name } }' }
const cases = {
  BAD_USER_INPUT: {
    request: mutation('createPost', `{text: "${'x'.repeat(301)}"}`),
    status: 200,
    argument: 'input.text',
    problem: 'must be at most 300 characters',
  },
  GRAPHQL_PARSE_FAILED: { request: { query: '{ viewer { ' }, status: 400, legacyStatus: 200 },
  GRAPHQL_VALIDATION_FAILED: {
    request: { query: '{ viewr { handle } }' },
    status: 400,
    legacyStatus: 200,
  },
  OPERATION_RESOLUTION_FAILURE: {
    request: { query: 'query A { viewer { handle } }', operationName: 'B' },
    status: 400,
    legacyStatus: 200,
  },
  BAD_REQUEST: { request: { body: '{"query":' }, status: 400 },
  PERSISTED_QUERY_NOT_FOUND: {
    request: { body: '{"extensions":{"persistedQuery":{"version":1,"sha256Hash":"x"}}}' },
    status: 200,
  },
  PERSISTED_QUERY_HASH_MISMATCH: {
    request: {
      body: '{"query":"{ __typename }","extensions":{"persistedQuery":{"version":1,"sha256Hash":"x"}}}',
    },
    status: 400,
  },
  PERSISTED_QUERY_NOT_IN_LIST: { request: { body: '{"documentId":"x"}' }, status: 400 },
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
      as: 'ann',
      query: '{ user(handle: "bob") { following(group: "close") { edges { cursor } } } }',
    },
    status: 200,
    argument: 'group',
  },
  NOT_FOUND: { request: mutation('followUser', '{user: {handle: "nobody"}}'), status: 200 },
  CONFLICT: { request: mutation('createUser', '{name: "Ann"}'), status: 200 },
  PAYLOAD_TOO_LARGE: { request: { query: 'x'.repeat(100_001) }, status: 413 },
  RATE_LIMITED: {
    request: {
      query: `{ user(handle: "ann") { followers(first: 100) { edges { node {
        followers(first: 60) { edges { cursor } } } } } } }`,
    },
    status: 429,
    isLimited: true,
  },
  INTERNAL_SERVER_ERROR: {
    request: readAnn,
    status: 200,
    failure: { failCommands: ['aggregate'], errorCode: 8000 },
  },
  UNAVAILABLE: {
    request: readAnn,
    status: 503,
    failure: { failCommands: ['aggregate'], closeConnection: true },
  },
} satisfies Record<ErrorCode, Case>

/** Internals that no answer may contain: stacks, files, and texts of the driver and libraries. */
const inner = /mongo|bson|E11000|node_modules|\bat .*:\d+|failpoint|failcommand|apollo|\.[jt]s\b/i
const writes = new Set(['insert', 'update', 'delete', 'findAndModify'])
/** A write outside the transaction, which no abort undoes. */
const lasts = ({ name, command }: RecordedCommand) =>
  name === 'commitTransaction' || (writes.has(name) && command.autocommit !== false)

async function meet({ request, failure, isLimited }: Case, accept: string): Promise<Answer> {
  const headers = { accept, ...request.headers }
  if (isLimited) {
    await limited.send(request)
    return limited.send({ ...request, headers })
  }
  if (!failure) return app.send({ ...request, headers })
  await using _ = await failCommand(app.database.client, failure)
  return await app.send({ ...request, headers })
}

/** The codes after which a client may try again by itself. Both say when. */
const waits: ReadonlySet<ErrorCode> = new Set(['RATE_LIMITED', 'UNAVAILABLE'])

/** All stored documents. */
async function contents() {
  const collections = await app.database.db.collections()
  return Promise.all(
    collections
      .sort((a, b) => a.collectionName.localeCompare(b.collectionName))
      .map(async (one) => [one.collectionName, await one.find().sort({ _id: 1 }).toArray()]),
  )
}

/** The lines about warnings and errors during `work`. */
async function logged<T>(work: () => Promise<T>) {
  const seen = app.logged.length
  const result = await work()
  const lines = app.logged.slice(seen).map((line) => JSON.parse(line))
  return { result, lines: lines.filter(({ level }) => level > 30) }
}

describe('every error code is returned as documented, without a change and without internals', () => {
  for (const [code, wanted] of Object.entries(cases) as [ErrorCode, Case][]) {
    test.each([modern, legacy])(`${code} is as documented under %s`, async (accept) => {
      const before = await contents()
      const { result, lines } = await logged(() =>
        recorded(app.database.client, () => meet(wanted, accept)),
      )
      const { status, headers, errors } = result.result
      expect(errors).toHaveLength(1)
      const requestId = headers.get('x-request-id')
      expect(requestId).toMatch(/^[0-9a-f-]{36}$/)
      expect(errors[0]?.extensions).toEqual({
        code,
        requestId,
        release,
        ...(wanted.argument ? { argument: wanted.argument } : {}),
        ...(wanted.problem
          ? { arguments: [{ argument: wanted.argument, message: wanted.problem }] }
          : {}),
        ...(wanted.limit ? { limit: wanted.limit } : {}),
        ...(waits.has(code) ? { retryAfterSeconds: Number(headers.get('retry-after')) } : {}),
      })
      expect(headers.has('retry-after')).toBe(waits.has(code))
      expect(errors[0]?.message).not.toMatch(inner)
      expect(status).toBe((accept === legacy && wanted.legacyStatus) || wanted.status)
      expect(headers.get('content-type')).toBe(`${accept}; charset=utf-8`)

      expect(result.commands.filter(lasts)).toEqual([])
      expect(await contents()).toEqual(before)

      const { status: ofCode } = errorCodes[code]
      expect(lines.map((line) => [line.level, line.code, line.requestId])).toEqual(
        ofCode < 500 ? [] : [[50, code, requestId]],
      )
    })
  }

  test('INTERNAL_SERVER_ERROR has a fixed message, and its cause is in the log', async () => {
    const { result, lines } = await logged(() => meet(cases.INTERNAL_SERVER_ERROR, modern))
    expect(result.errors[0]?.message).toBe('The server failed. The server log has the details.')
    expect(lines[0].err).toMatchObject({ type: 'MongoServerError', code: 8000 })
  })

  test('UNAVAILABLE advises to try again, and its cause is in the log', async () => {
    const { result, lines } = await logged(() => meet(cases.UNAVAILABLE, modern))
    expect(result.errors[0]?.message).toMatch(/Try again later/)
    expect(lines[0].err.type).toMatch(/^MongoNetworkError/)
  })
})

test.each([
  ['the primary stepped down', 10107],
  ['the server shuts down', 11600],
  ['another member is out of reach', 6],
  ['the time is up', 50],
])('a read that fails permanently because %s is UNAVAILABLE', async (_, errorCode) => {
  const failure = { failCommands: ['aggregate'], errorCode }
  const { result, lines } = await logged(() => meet({ ...cases.UNAVAILABLE, failure }, modern))
  const requestId = result.headers.get('x-request-id')
  expect(result.errors.map(({ extensions }) => extensions)).toEqual([
    { code: 'UNAVAILABLE', requestId, release, retryAfterSeconds: 1 },
  ])
  expect(result.errors[0]?.message).not.toMatch(inner)
  expect(lines).toMatchObject([
    { level: 50, code: 'UNAVAILABLE', requestId, err: { code: errorCode } },
  ])
})

test.each([
  ['timeline(first: -1) { edges { cursor } }', 'first'],
  ['timeline(last: 101) { edges { cursor } }', 'last'],
  ['timeline(first: 1, last: 1) { edges { cursor } }', 'last'],
  ['timeline(first: 1000000) { edges { cursor node { id } } }', 'first'],
  ['timeline(after: "x") { edges { cursor } }', 'after'],
  ['user(handle: "__proto__") { name }', 'handle'],
  ['user(handle: "{\\"$ne\\":null}") { name }', 'handle'],
  ['post(id: "x") { id }', 'id'],
  [`post(id: "${encodeOpaque('User', 'ann')}") { id }`, 'id'],
  ['user(handle: "@@ann") { name }', 'handle'],
])('an invalid argument of %s is refused with the path %s', async (field, argument) => {
  const { errors } = await app.send({ as: 'ann', query: `{ ${field} }` })
  expect(errors.map(({ extensions: { code, ...more } }) => [code, more.argument])).toEqual([
    ['BAD_USER_INPUT', argument],
  ])
})

const read = `query ($h: String!, $n: Int, $s: FeedStrategy) {
  user(handle: $h) { handle followers(first: $n) { edges { cursor } } }
  timeline(strategy: $s) { strategy } }`
const follow = 'mutation ($i: FollowUserInput!) { followUser(input: $i) { clientMutationId } }'
const publish = 'mutation ($i: CreatePostInput!) { createPost(input: $i) { clientMutationId } }'

describe.each([
  ['is missing', read, {}, ['h']],
  ['is null', read, { h: null }, ['h']],
  ['is of another type', read, { h: 7 }, ['h']],
  ['is an operator', read, { h: { $ne: null } }, ['h']],
  ['holds an operator', publish, { i: { text: { $gt: '' } } }, ['i.text']],
  ['is no number of 32 bits', read, { h: 'ann', n: 3e10 }, ['n']],
  ['is not of the enum', read, { h: 'ann', s: 'CASH' }, ['s']],
  ['has a misspelt field', publish, { i: { texr: 'Hello', text: 'Hello' } }, ['i']],
  ['is wrong in several places', read, { h: 7, n: 'x', s: 'CASH' }, ['h', 'n', 's']],
  ['names a user twice', follow, { i: { user: { id: 'x', handle: 'ben' } } }, ['i.user']],
])('a variable that %s', (_, query, variables, names) => {
  test.each([
    [modern, 400],
    [legacy, 200],
  ])('an invalid variable is a client error under %s', async (accept, status) => {
    const { result, lines } = await logged(() =>
      recorded(app.database.client, () =>
        app.send({ as: 'ann', query, variables, headers: { accept } }),
      ),
    )
    const { errors } = result.result
    expect(result.result.status).toBe(status)
    expect(errors.map(({ extensions }) => extensions.code)).toEqual(['BAD_USER_INPUT'])
    expect(errors[0]?.extensions.argument).toBe(names[0])
    expect(errors[0]?.extensions.arguments?.map(({ argument }) => argument)).toEqual(names)
    expect(errors[0]?.message).not.toMatch(/did you mean/i)
    expect(result.commands).toEqual([])
    expect(lines).toEqual([])
  })
})

test.each([
  ['a field', '{ viewr { handle } }'],
  ['an argument', '{ user(handl: "ann") { name } }'],
  ['a type', '{ node(id: "x") { ... on Usr { name } } }'],
  ['an enum value', '{ timeline(strategy: CASHE) { strategy } }'],
  ['a field of an input', 'mutation { createPost(input: {texr: ""}) { clientMutationId } }'],
])('the error of a misspelt %s suggests no correct name', async (_, query) => {
  const { errors } = await app.send({ query })
  expect(errors.length).toBeGreaterThan(0)
  for (const { message } of errors) expect(message).not.toMatch(/did you mean/i)
})

test.each([
  [
    'a variable',
    { query: 'query ($n: Int) { user(handle: "a") { posts(first: $n) { __typename } } }' },
  ],
  ['a literal', {}],
])(
  '%s that repeats the words of a suggestion costs as much as another of its length',
  async (_, given) => {
    /** Microseconds of processor time: other processes do not count. */
    const refuse = async (words: string) => {
      const long = words.repeat(7_000)
      const query = `{ user(handle: "a") { posts(first: "${long}") { __typename } } }`
      const before = process.cpuUsage()
      // The time of a single request may be measured as none.
      for (let times = 0; times < 10; times++) {
        const { errors } = await app.send({ query, variables: { n: long }, ...given })
        expect(errors[0]?.message.length).toBeLessThanOrEqual(messageLengthMax)
      }
      return process.cpuUsage(before).user
    }
    const harmless = await refuse(' Some other te ')
    // With a regular expression that goes back, it takes seconds.
    expect(await refuse(' Did you mean ')).toBeLessThan(20 * harmless)
  },
)
