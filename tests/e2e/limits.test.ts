import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { messageLengthMax } from '../../src/graphql/errors.ts'
import { limits } from '../../src/graphql/limits.ts'
import { userNodeId } from '../../src/graphql/node-id.ts'
import { pageSizeMax } from '../../src/lib/page.ts'
import { type Answer, type GraphqlRequest, useApp } from '../support/app.ts'
import { noteFact } from '../support/facts.ts'
import { recorded } from '../support/mongo.ts'
import { root } from '../support/process.ts'
import { handle, openAccounts } from '../support/services.ts'

const app = useApp()
const production = useApp({ NODE_ENV: 'production', AUTH_JWT_SECRET: 's'.repeat(32) })

/** The expected answer to a request beyond a limit. */
interface Refusal {
  readonly request: GraphqlRequest
  readonly status: number
  readonly code: string
  readonly limit?: string
  readonly argument?: string
  readonly message: RegExp
}

const times = (count: number, part: (n: number) => string) =>
  Array.from({ length: count }, (_, n) => part(n)).join(' ')

const beyond = (limit: keyof typeof limits, query: string, variables = {}): Refusal => ({
  request: { query, variables },
  status: 400,
  code: 'LIMIT_EXCEEDED',
  limit,
  message: new RegExp(limit, 'i'),
})

/** A query with `leaf` of a user at depth twelve. */
const twelve = (leaf: string) =>
  `viewer { user { ${'followers(first: 1) { edges { node { '.repeat(3)}${leaf}${' } } }'.repeat(3)} } }`

const aliases = (count: number) => `{ ${times(count, (n) => `a${n}: viewer { handle }`)} }`
const directives = (count: number) =>
  `{ viewer { ${times(count, () => 'handle @include(if: true)')} } }`
/** A query with a list of unused ids and 26 other tokens. */
const tokens = (count: number): GraphqlRequest => ({
  query: `query ($ids: [ID!]! = [${times(count - 26, () => '1')}]) { nodes(ids: $ids) { id } }`,
  variables: { ids: [] },
})

/** Each fragment spreads the next one four times. */
const bomb = `{ user(handle: "ann") { ...f0 } }
  ${times(7, (n) => `fragment f${n} on User { ${times(4, (m) => `a${n}${m}: id ...f${n + 1}`)} }`)}
  fragment f7 on User { id }`

const selectionsOf = (first: string) =>
  `user(handle: "ann") { followers(${first}) { edges { node { posts(${first}) {
    edges { node { text author { handle } } } } } } } }`

/** Costs 422 and 200 for each post. */
const costly = (posts: number) => `{ user(handle: "ann") { followers(first: 100) { edges { node {
  posts(first: ${posts}) { pageInfo { hasNextPage } } } } } } }`

const nodes = (count: number, fields: string): GraphqlRequest => ({
  query: `query ($ids: [ID!]!) { nodes(ids: $ids) { ${fields} } }`,
  variables: { ids: Array.from({ length: count }, (_, n) => userNodeId(handle(`u${n}`))) },
})

const plain = '{ viewer { handle } }'
const twoOperations = {
  query: `query Cheap ${plain} query Dear { ${selectionsOf('first: 100')} }`,
}
const padded = (bytes: number) => JSON.stringify({ query: plain }).padEnd(bytes)

const refused: Readonly<Record<string, Refusal>> = {
  depth: beyond('depth', `{ ${twelve('posts { edges { cursor } }')} }`),
  'depth by a fragment': beyond(
    'depth',
    `{ ${twelve('...f')} } fragment f on User { posts { edges { cursor } } }`,
  ),
  aliases: beyond('aliases', aliases(limits.aliases + 1)),
  directives: beyond('directives', directives(limits.directives + 1)),
  tokens: { ...beyond('tokens', ''), request: tokens(limits.tokens + 1) },
  'selections by fragments in fragments': beyond('selections', bomb),
  cost: beyond('cost', costly(98)),
  'cost by first': beyond('cost', `{ ${selectionsOf('first: 100')} }`),
  'cost by last': beyond('cost', `{ ${selectionsOf('last: 100')} }`),
  'cost by a variable': beyond('cost', `query ($n: Int!) { ${selectionsOf('first: $n')} }`, {
    n: 100,
  }),
  'cost by a default': beyond('cost', `query ($n: Int = 100) { ${selectionsOf('first: $n')} }`),
  'cost beside a negative size': beyond(
    'cost',
    `{ timeline(first: -100000) { edges { cursor } } ${selectionsOf('first: 100')} }`,
  ),
  'cost of the operation that is named': {
    ...beyond('cost', ''),
    request: { ...twoOperations, operationName: 'Dear' },
  },
  'cost by ids': {
    ...beyond('cost', ''),
    request: nodes(100, '... on User { followers(first: 100) { edges { cursor } } }'),
  },
  ids: {
    request: nodes(pageSizeMax + 1, 'id'),
    status: 200,
    code: 'BAD_USER_INPUT',
    argument: 'ids',
    message: /at most 100/,
  },
  'body size': {
    request: { body: padded(limits.bodyBytes + 1) },
    status: 413,
    code: 'PAYLOAD_TOO_LARGE',
    message: /100000 bytes/,
  },
  batching: {
    request: { body: `[${JSON.stringify({ query: plain })}]` },
    status: 400,
    code: 'BAD_REQUEST',
    message: /batching off.*BatchHttpLink.*genql/,
  },
  'a form of another site': {
    request: {
      body: JSON.stringify({ query: plain }),
      headers: { 'content-type': 'text/plain' },
    },
    status: 415,
    code: 'BAD_REQUEST',
    message: /content type/,
  },
}

function expectRefused(name: string, answer: Answer, { request: _, message, ...how }: Refusal) {
  const { status, data, errors } = answer
  noteFact(`${name}: ${status} ${errors[0]?.extensions.code}`)
  expect(errors).toHaveLength(1)
  const { code, limit, argument, requestId } = errors[0]?.extensions ?? {}
  expect(requestId).toBe(answer.headers.get('x-request-id'))
  expect({ status, code, limit, argument }).toEqual({
    limit: undefined,
    argument: undefined,
    ...how,
  })
  expect(errors[0]?.message).toMatch(message)
  expect(data ?? null).toBeNull()
}

const get = async (query: string, headers: Record<string, string> = {}): Promise<Answer> => {
  const url = `${app.url}/graphql?query=${encodeURIComponent(query)}`
  const response = await fetch(url, { headers })
  const { data, errors = [] } = (await response.json()) as Answer
  return { status: response.status, headers: response.headers, data, errors }
}

describe('a request beyond a limit is refused without a command', () => {
  // The server remembers the account of a subject.
  beforeAll(async () => {
    await openAccounts(app.services, [handle('ann')])
    await app.send({ as: 'ann', query: plain })
  })

  test.each(Object.entries(refused))('refused without a command: %s', async (name, refusal) => {
    const { result, commands } = await recorded(app.database.client, () =>
      app.send({ as: 'ann', ...refusal.request }),
    )
    expectRefused(name, result, refusal)
    expect(commands).toEqual([])
  })

  test('introspection is refused in production', async () => {
    const headers = { accept: 'application/graphql-response+json' }
    for (const query of ['{ __schema { types { name } } }', '{ __type(name: "User") { name } }']) {
      const request = { query, headers }
      const { result, commands } = await recorded(production.database.client, () =>
        production.send(request),
      )
      const refusal = { status: 400, code: 'GRAPHQL_VALIDATION_FAILED', message: /^Introspection/ }
      expectRefused('introspection in production', result, { ...refusal, request })
      expect(commands).toEqual([])
      expect(await app.send(request)).toMatchObject({ status: 200, errors: [] })
    }
  })

  test('a mutation by GET is refused', async () => {
    const headers = { authorization: 'Dev ann' }
    const mutation = 'mutation { createUser(input: {name: "Ann"}) { clientMutationId } }'
    const { result, commands } = await recorded(app.database.client, () => get(mutation, headers))
    noteFact(`a mutation by GET: ${result.status} ${result.errors[0]?.extensions.code}`)
    expect([result.status, result.errors[0]?.extensions.code]).toEqual([405, 'BAD_REQUEST'])
    expect(commands).toEqual([])
  })
})

describe('a request within the limits is answered', () => {
  test('a query by GET is answered without other headers', async () => {
    expect(await get(plain)).toMatchObject({ status: 200, data: { viewer: null } })
  })

  test.each<[string, GraphqlRequest]>([
    ['depth', { query: `{ ${twelve('handle')} }` }],
    [
      'depth by a fragment',
      { query: `{ ${twelve('...f')} } fragment f on User { ...g } fragment g on User { handle }` },
    ],
    ['aliases', { query: aliases(limits.aliases) }],
    ['one name', { query: `{ viewer { ${times(1900, () => 'handle')} } }` }],
    ['directives', { query: directives(limits.directives) }],
    ['tokens', tokens(limits.tokens)],
    ['cost', { query: costly(97) }],
    ['cost of the operation that is named', { ...twoOperations, operationName: 'Cheap' }],
    ['ids', nodes(pageSizeMax, 'id')],
    ['body size', { body: padded(limits.bodyBytes) }],
  ])('a request within the limits is answered: %s', async (_, request) => {
    expect(await app.send(request)).toMatchObject({ status: 200, errors: [] })
  })

  test('an ordinary query of a Relay client is answered', async () => {
    const author = 'handle followers(first: 5) { edges { node { handle } } }'
    const query = `{ user(handle: "ann") { posts(first: 10) {
      edges { cursor node { text author { ${author} } } } pageInfo { hasNextPage } } } }`
    expect(await app.send({ query })).toMatchObject({ status: 200, errors: [] })
  })
})

test('docs/explanation/architecture.md lists each limit of a request', () => {
  const docs = readFileSync(join(root, 'docs/explanation/architecture.md'), 'utf8').replaceAll(
    /(\d),(\d)/g,
    '$1$2',
  )
  const rows = [...docs.matchAll(/^\| `(\w+)` \| (\d+) \|/gm)].map(([, name, most]) => [name, most])
  const { bodyBytes, ...others } = limits
  expect(rows).toEqual(Object.entries(others).map(([name, most]) => [name, String(most)]))
  expect(docs).toContain(`A body has at most ${bodyBytes} bytes`)
  expect(docs).toContain(`error has at most ${messageLengthMax} characters`)
})
