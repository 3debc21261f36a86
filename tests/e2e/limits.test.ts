import { describe, expect, test } from 'vitest'
import { limits } from '../../src/graphql/limits.ts'
import { type Answer, type GraphqlRequest, useApp } from '../support/app.ts'
import { recorded } from '../support/mongo.ts'

const app = useApp()
const production = useApp({ NODE_ENV: 'production', AUTH_JWT_SECRET: 's'.repeat(32) })

const nested = (depth: number) =>
  `{ user(handle: "ann") { ${'followers { edges { node { '.repeat((depth - 2) / 3)} handle ${'} } } '.repeat((depth - 2) / 3)} } }`

const bomb = [
  '{ user(handle: "ann") { ...f0 } }',
  ...Array.from({ length: 8 }, (_, n) =>
    n < 7
      ? `fragment f${n} on User { ${Array.from({ length: 4 }, (_, m) => `a${n}${m}: handle ...f${n + 1}`).join(' ')} }`
      : `fragment f${n} on User { id }`,
  ),
].join('\n')

const page = 'edges { node { text author { handle } } }'

/** What each limit refuses, and the answer: every one before anything is read. */
const refused: Record<
  string,
  { request: GraphqlRequest; status: number; code: string; limit?: string }
> = {
  depth: { request: { query: nested(14) }, status: 400, code: 'LIMIT_EXCEEDED', limit: 'depth' },
  aliases: {
    request: {
      query: `{ ${Array.from({ length: limits.aliases + 1 }, (_, n) => `a${n}: viewer { handle }`).join(' ')} }`,
    },
    status: 400,
    code: 'LIMIT_EXCEEDED',
    limit: 'aliases',
  },
  directives: {
    request: {
      query: `{ viewer { ${Array.from({ length: limits.directives + 1 }, (_, n) => `a: handle @include(if: ${n > 0})`).join(' ')} } }`,
    },
    status: 400,
    code: 'LIMIT_EXCEEDED',
    limit: 'directives',
  },
  tokens: {
    request: { query: `{ viewer { ${'handle '.repeat(limits.tokens)} } }` },
    status: 400,
    code: 'LIMIT_EXCEEDED',
    limit: 'tokens',
  },
  'selections of fragments in fragments': {
    request: { query: bomb },
    status: 400,
    code: 'LIMIT_EXCEEDED',
    limit: 'selections',
  },
  'cost by a literal': {
    request: {
      query: `{ user(handle: "ann") { followers(first: 100) { edges { node { posts(first: 100) { ${page} } } } } } }`,
    },
    status: 400,
    code: 'LIMIT_EXCEEDED',
    limit: 'cost',
  },
  'cost by a variable': {
    request: {
      query: `query ($n: Int!) { user(handle: "ann") { followers(first: $n) { edges { node { posts(first: $n) { ${page} } } } } } }`,
      variables: { n: 100 },
    },
    status: 400,
    code: 'LIMIT_EXCEEDED',
    limit: 'cost',
  },
  'cost by a default': {
    request: {
      query: `query ($n: Int = 100) { user(handle: "ann") { followers(first: $n) { edges { node { posts(first: $n) { ${page} } } } } } }`,
    },
    status: 400,
    code: 'LIMIT_EXCEEDED',
    limit: 'cost',
  },
  'cost beside a negative size': {
    request: {
      query: `{ a: timeline(first: -100000) { edges { cursor } } user(handle: "ann") { followers(first: 100) { edges { node { posts(first: 100) { ${page} } } } } } }`,
    },
    status: 400,
    code: 'LIMIT_EXCEEDED',
    limit: 'cost',
  },
  'body size': {
    request: { query: '{ viewer { handle } }', variables: { pad: 'x'.repeat(limits.bodyBytes) } },
    status: 413,
    code: 'PAYLOAD_TOO_LARGE',
  },
  batching: {
    request: { body: JSON.stringify([{ query: '{ viewer { handle } }' }]) },
    status: 400,
    code: 'BAD_REQUEST',
  },
  'nodes by id': {
    request: {
      query: 'query ($ids: [ID!]!) { nodes(ids: $ids) { id } }',
      variables: { ids: Array.from({ length: 101 }, () => 'x') },
    },
    status: 200,
    code: 'BAD_USER_INPUT',
  },
  'a form of another site': {
    request: {
      body: '{"query":"{ viewer { handle } }"}',
      headers: { 'content-type': 'text/plain' },
    },
    status: 400,
    code: 'BAD_REQUEST',
  },
}

async function sent(request: GraphqlRequest) {
  const { result, commands } = await recorded(app.database.client, () => app.send(request))
  return { answer: result, commands }
}

function expectRefused({ status, errors }: Answer, wanted: (typeof refused)[string]) {
  expect(errors.map(({ extensions: { code, limit } }) => ({ code, limit }))).toContainEqual({
    code: wanted.code,
    limit: wanted.limit,
  })
  expect(status).toBe(wanted.status)
}

describe('what passes a limit is refused before the database hears of it', () => {
  test.each(Object.entries(refused))('%s', async (name, wanted) => {
    const { answer, commands } = await sent(wanted.request)
    console.info(`${name}: ${answer.status} ${wanted.code} ${wanted.limit ?? ''}`)
    expectRefused(answer, wanted)
    expect(commands).toEqual([])
    expect(answer.data ?? null).toBeNull()
  })

  test('a query by GET that another site could make a browser send', async () => {
    const url = `${app.url}/graphql?query=${encodeURIComponent('{ viewer { handle } }')}`
    const { result, commands } = await recorded(app.database.client, () => fetch(url))
    const { errors } = (await result.json()) as Answer
    expect(result.status).toBe(400)
    expect(errors[0]?.extensions.code).toBe('BAD_REQUEST')
    expect(commands).toEqual([])
    const preflighted = await fetch(url, { headers: { 'apollo-require-preflight': 'yes' } })
    expect(preflighted.status).toBe(200)
  })

  test('introspection in production', async () => {
    const headers = { accept: 'application/graphql-response+json' }
    const request = { query: '{ __schema { types { name } } }', headers }
    const { result, commands } = await recorded(production.database.client, () =>
      production.send(request),
    )
    expectRefused(result, { request, status: 400, code: 'GRAPHQL_VALIDATION_FAILED' })
    expect(result.errors[0]?.message).not.toMatch(/apollo/i)
    expect(commands).toEqual([])
    expect((await app.send(request)).data.__schema.types.length).toBeGreaterThan(10)
  })
})

test('an ordinary query of a Relay client passes them all', async () => {
  const query = `{ user(handle: "ann") { posts(first: 10) { edges { cursor node { text author {
    handle followers(first: 5) { edges { node { handle } } } } } } pageInfo { hasNextPage } } } }`
  expect(await app.send({ query })).toMatchObject({ status: 200, data: { user: null }, errors: [] })
})
