import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { json } from 'node:stream/consumers'
import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { type AnsweredError, useApp } from '../support/app.ts'
import { recorded } from '../support/mongo.ts'

const app = useApp()
const open = useApp({ CORS_ORIGINS: 'https://app.example, https://other.example' })

const query = JSON.stringify({ query: '{ viewer { handle } }' })
const post = <Body extends string | Buffer>(body: Body, headers: Record<string, string> = {}) => ({
  method: 'POST',
  body,
  headers: { 'content-type': 'application/json', ...headers },
})

/** A request that GraphQL never sees, and the answer. */
interface Case {
  readonly path?: string
  readonly method?: string
  readonly headers?: Record<string, string>
  readonly body?: string | Buffer
  readonly status: number
  readonly code: string
  readonly message: RegExp
  readonly allow?: string
}

const cases: Readonly<Record<string, Case>> = {
  'another path': { path: '/nothing', status: 404, code: 'NOT_FOUND', message: /at \/graphql/ },
  'a path below': { path: '/graphql/x', status: 404, code: 'NOT_FOUND', message: /at \/graphql/ },
  'a malformed URL': { path: '/%zz', status: 400, code: 'BAD_REQUEST', message: /URL/ },
  ...Object.fromEntries(
    ['PUT', 'DELETE', 'PATCH', 'OPTIONS'].map((method) => [
      `the method ${method}`,
      { method, status: 405, code: 'BAD_REQUEST', message: /method/, allow: 'GET, POST' },
    ]),
  ),
  'bad JSON': { ...post('{"query":'), status: 400, code: 'BAD_REQUEST', message: /not JSON/ },
  'an empty body': { ...post(''), status: 400, code: 'BAD_REQUEST', message: /not JSON/ },
  'no query': { ...post('{}'), status: 400, code: 'BAD_REQUEST', message: /no keys/ },
  'a query that is no string': {
    ...post('{"query":{"$ne":null}}'),
    status: 400,
    code: 'BAD_REQUEST',
    message: /queries must be strings/,
  },
  'variables that are no object': {
    ...post('{"query":"{ viewer { handle } }","variables":[1]}'),
    status: 400,
    code: 'BAD_REQUEST',
    message: /variables/,
  },
  'another content type': {
    ...post(query, { 'content-type': 'text/xml' }),
    status: 415,
    code: 'BAD_REQUEST',
    message: /content type/,
  },
  'a compressed body': {
    ...post(gzipSync(query), { 'content-encoding': 'gzip' }),
    status: 415,
    code: 'BAD_REQUEST',
    message: /compressed/,
  },
}

/** Sends a request unchanged: `fetch` would correct the URL. */
async function send({ path = '/graphql', method = 'GET', headers = {}, body }: Case) {
  const sent = request(app.url, { path, method, headers }).end(body)
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  const { errors } = (await json(response)) as { errors: readonly AnsweredError[] }
  return { status: response.statusCode, headers: response.headers, errors }
}

describe('requests that are not GraphQL', () => {
  test.each(Object.entries(cases))('%s gets a GraphQL error', async (_, wanted) => {
    const seen = app.logged.length
    const { result, commands } = await recorded(app.database.client, () => send(wanted))
    const { status, headers, errors } = result
    expect(errors).toHaveLength(1)
    const requestId = headers['x-request-id']
    expect(requestId).toMatch(/^[0-9a-f-]{36}$/)
    expect(errors[0]?.extensions).toEqual({ code: wanted.code, requestId })
    expect(errors[0]?.message).toMatch(wanted.message)
    expect(errors[0]?.message).not.toMatch(/fastify|FST_|JSON at position|\bat .*:\d+/i)
    expect({ status, allow: headers.allow }).toEqual({
      status: wanted.status,
      allow: wanted.allow,
    })
    expect(commands).toEqual([])
    expect(app.logged.slice(seen)).toEqual([])
  })
})

describe('a browser', () => {
  const preflight = async ({ url }: { url: string }, origin: string) => {
    const headers = {
      origin,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'content-type,authorization',
    }
    const answer = await fetch(`${url}/graphql`, { method: 'OPTIONS', headers })
    return [
      answer.headers.get('access-control-allow-origin'),
      answer.headers.get('access-control-allow-headers'),
    ]
  }

  test('a browser may send requests from each origin in CORS_ORIGINS', async () => {
    for (const origin of ['https://app.example', 'https://other.example']) {
      expect(await preflight(open, origin)).toEqual([origin, 'content-type,authorization'])
      const answer = await fetch(`${open.url}/graphql`, post(query, { origin }))
      expect(answer.headers.get('access-control-allow-origin')).toBe(origin)
    }
  })

  test('a browser may not send requests from other origins, or from any origin without CORS_ORIGINS', async () => {
    for (const origin of ['https://evil.example', 'http://app.example', 'null']) {
      expect((await preflight(open, origin))[0]).toBeNull()
      const answer = await fetch(`${open.url}/graphql`, post(query, { origin }))
      expect(answer.headers.get('access-control-allow-origin')).toBeNull()
    }
    expect((await preflight(app, 'https://app.example'))[0]).toBeNull()
  })
})
