import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { beforeAll, expect, test } from 'vitest'
import { readTokens } from '../../src/graphql/check-document.ts'
import { limits } from '../../src/graphql/limits.ts'
import { type Answer, type GraphqlRequest, useApp } from '../support/app.ts'
import { labelsOf } from '../support/commands.ts'
import { hostileRequests } from '../support/hostile-documents.ts'
import { recorded } from '../support/mongo.ts'
import { handle, openAccounts } from '../support/services.ts'

const limit = 20_000
const env = { RATE_LIMIT_COST: String(limit), TRUSTED_PROXIES: '127.0.0.1' }
const app = useApp(env)
const shared = useApp({ ...env, RATE_LIMIT_STORE: 'mongodb' })
const ann = handle('ann')

beforeAll(async () => {
  for (const { services } of [app, shared]) await openAccounts(services, [ann])
})

let clients = 0
/** Sends as a client whose limit is unused. */
const newClient = (one = app) => {
  const address = `2001:db8:${(++clients).toString(16)}::1`
  return (request: GraphqlRequest) =>
    one.send({ ...request, headers: { 'x-forwarded-for': address, ...request.headers } })
}
const usedBy = ({ headers }: Answer) => limit - Number(headers.get('ratelimit-remaining'))
const modern = { accept: 'application/graphql-response+json' }
/** The price of the bytes of a large request. */
const bytesPriceOf = (body: string) => Math.ceil((body.length + '/graphql'.length) / 500)
/** A text that no other test sends. */
const unseen = (query: string) => `${query} #${++clients}`

test.each(hostileRequests.filter(({ variables }) => Object.keys(variables).length === 0))(
  'the client is charged for the document of $name, whatever becomes of it',
  async ({ query }) => {
    const { price } = readTokens(query)
    const answer = await newClient()({ query, headers: modern })
    expect([200, 400]).toContain(answer.status)
    const { requested = 0 } = answer.extensions?.cost ?? {}
    // An operation above the limit of costs is not executed.
    const cost = requested > limits.cost ? 0 : requested
    // The body has more characters than the document, which it escapes.
    const bytesPrice = bytesPriceOf(JSON.stringify({ query }))
    expect(usedBy(answer)).toBe(Math.max(price, bytesPrice > 8 ? bytesPrice : 0, cost))
  },
)

test('a client that has used up its limit is refused before its document is parsed', async () => {
  const send = newClient()
  const invalid = `{ ${'nothing '.repeat(1_900)} }`
  const answers: Answer[] = []
  for (let n = 0; n < 80 && answers.at(-1)?.status !== 429; n++)
    answers.push(await send({ query: unseen(invalid), headers: modern }))
  expect(answers.length).toBeGreaterThan(30)
  const refused = answers.at(-1)
  expect(refused?.status).toBe(429)
  const seconds = Number(refused?.headers.get('retry-after'))
  expect(seconds).toBeGreaterThan(0)
  expect(refused?.errors).toMatchObject([
    { extensions: { code: 'RATE_LIMITED', retryAfterSeconds: seconds } },
  ])
  // Not even a document that is no GraphQL is read.
  const unreadable = { query: `${'{ '.repeat(1_900)}#${clients}` }
  // On a busy machine, the limit of a second may have come back.
  await expect
    .poll(async () => (await send(unreadable)).errors)
    .toMatchObject([{ extensions: { code: 'RATE_LIMITED' } }])
  expect(await newClient()({ query: '{ viewer { id } }' })).toMatchObject({ status: 200 })
})

test('a valid operation costs its price, whether the server knows its document or not', async () => {
  const query = unseen(
    '{ user(handle: "ann") { name posts(first: 3) { edges { cursor } } } rateLimit { cost remaining } }',
  )
  const send = newClient()
  const first = await send({ query })
  const { requested } = first.extensions.cost
  expect(requested).toBeGreaterThan(readTokens(query).price)
  expect(usedBy(first)).toBe(requested)
  expect(first.data.rateLimit).toEqual({ cost: requested, remaining: limit - requested })
  const second = await newClient()({ query })
  expect(usedBy(second)).toBe(requested)
  expect(second.data.rateLimit).toEqual({ cost: requested, remaining: limit - requested })
})

test('a valid document that costs more to read than to execute is charged for the reading', async () => {
  const query = unseen(`{ ${'__typename '.repeat(1_900)} }`)
  const dear = unseen('{ viewer { handle } }'.padEnd(50_000, ' '))
  const { price } = readTokens(dear)
  expect(price).toBeGreaterThan(100)
  expect(usedBy(await newClient()({ query: dear }))).toBe(price)
  expect(usedBy(await newClient()({ query }))).toBe(1_900)
})

test('a request with a document that the server knows is charged for its bytes if it is large', async () => {
  const query = unseen('{ viewer { id } }')
  const bodyOf = (padding: number) => JSON.stringify({ query, other: 'x'.repeat(padding) })
  await newClient()({ query })
  expect(usedBy(await newClient()({ body: bodyOf(3_000) }))).toBe(2)
  const body = bodyOf(50_000)
  const price = bytesPriceOf(body)
  expect(usedBy(await newClient()({ body }))).toBe(price)
  // A body in chunks does not tell its length before.
  const sent = request(`${app.url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-forwarded-for': '2001:db8:ffff::1' },
  })
  sent.write(body.slice(0, 10_000))
  sent.end(body.slice(10_000))
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  response.resume()
  expect(limit - Number(response.headers['ratelimit-remaining'])).toBe(price)
})

test('a name that the server has no document of costs one unit', async () => {
  const sha256Hash = createHash('sha256').update(unseen('x')).digest('hex')
  const send = newClient()
  const body = JSON.stringify({ extensions: { persistedQuery: { version: 1, sha256Hash } } })
  const { errors, headers } = await send({ body })
  expect(headers.get('ratelimit-remaining')).toBe(String(limit - 1))
  expect(errors[0]?.extensions.code).toBe('PERSISTED_QUERY_NOT_FOUND')
  expect(usedBy(await send({ query: '{ viewer { id } }' }))).toBeLessThanOrEqual(3)
})

test.each([
  ['an operation that does not exist', { operationName: 'Other' }],
  ['wrong variables', { variables: { first: 'x' } }],
  ['a cost above the limit', { variables: { first: 100 } }],
])('a request with %s is charged, also for a document that the server knows', async (_, wrong) => {
  const list = (below: string) => `followers(first: $first) { edges { node { ${below} } } }`
  const query = unseen(`query ($first: Int) { user(handle: "ann") { ${list(list(list('id')))} } }`)
  expect(await newClient()({ query, variables: { first: 1 } })).toMatchObject({ status: 200 })
  const send = newClient()
  const refused = await send({ query, headers: modern, ...wrong })
  expect(refused.status).toBe(400)
  expect(usedBy(refused)).toBeGreaterThan(0)
})

test('a request with large variables is charged before they are read', async () => {
  const query = unseen('query ($ids: [ID!]!) { nodes(ids: $ids) { id } }')
  await newClient()({ query, variables: { ids: [] } })
  const variables = { ids: Array(9_000).fill('x') }
  const refused = await newClient()({ query, variables, headers: modern })
  expect(refused.errors).toMatchObject([{ extensions: { code: 'BAD_USER_INPUT' } }])
  expect(usedBy(refused)).toBeGreaterThanOrEqual((9_000 * 4) / 500)
})

test('a request with a new document pays for its variables before they are read, or for its text if that costs more', async () => {
  const variables = { ids: Array(24_000).fill('x') }
  const query = 'query ($ids: [Int!]!) { rateLimit { cost } }'
  const body = JSON.stringify({ query: unseen(query), variables })
  const price = bytesPriceOf(body)
  expect(price).toBeGreaterThan(190)
  expect(usedBy(await newClient()({ body }))).toBe(price)
  const invalid = JSON.stringify({ query: unseen('{ nothing }'), variables })
  expect(usedBy(await newClient()({ body: invalid }))).toBe(bytesPriceOf(invalid))
  const long = unseen(`{ ${'__typename '.repeat(1_900)} }`)
  expect(usedBy(await newClient()({ query: long, variables: { text: 'x'.repeat(5_000) } }))).toBe(
    1_900,
  )
})

test('a document with an unpaired surrogate is never taken for one with U+FFFD', async () => {
  const query = unseen('{ user(handle: "\ufffd") { id } }')
  expect(await app.send({ query })).toMatchObject({ status: 200 })
  const { errors } = await app.send({ query: query.replace('\ufffd', '\ud800') })
  expect(errors).toMatchObject([{ extensions: { code: 'GRAPHQL_PARSE_FAILED' } }])
})

test('with a shared store, only a document that the server does not know costs a second command', async () => {
  const query = unseen('{ user(handle: "ann") { name } }')
  const labels = async () => {
    const { result, commands } = await recorded(shared.database.client, () =>
      newClient(shared)({ query }),
    )
    expect(usedBy(result)).toBe(result.extensions.cost.requested)
    return labelsOf(commands).filter((label) => label.endsWith('rate_limits'))
  }
  expect(await labels()).toEqual(Array(2).fill('findAndModify rate_limits'))
  expect(await labels()).toEqual(['findAndModify rate_limits'])
})
