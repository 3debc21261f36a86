import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { json } from 'node:stream/consumers'
import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { release } from '../../src/lib/release.ts'
import { type AnsweredError, useApp } from '../support/app.ts'
import { recorded } from '../support/mongo.ts'

const app = useApp()
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
  'a body that is not UTF-8': {
    ...post(
      Buffer.concat([
        Buffer.from('{"query":"{ viewer { handle } } #'),
        Buffer.from([0xff, 0xc0, 0xaf]),
        Buffer.from('"}'),
      ]),
    ),
    status: 400,
    code: 'BAD_REQUEST',
    message: /not UTF-8/,
  },
  ...Object.fromEntries(
    ['latin1', 'utf-16', '"iso-8859-1"', 'utf-8; charset=utf-16', ''].map((charset) => [
      `the charset ${charset}`,
      {
        ...post(query, { 'content-type': `application/json; charset=${charset}` }),
        status: 415,
        code: 'BAD_REQUEST',
        message: /UTF-8/,
      },
    ]),
  ),
  'a URL that is not UTF-8': {
    path: '/graphql?query=%7Bviewer%7Bhandle%7D%7D%23%ff',
    ...{ status: 400, code: 'BAD_REQUEST', message: /percent-encoded UTF-8/ },
  },
  'an overlong form in a URL': {
    path: '/graphql?query=%7Bviewer%7Bhandle%7D%7D%23%c0%af',
    ...{ status: 400, code: 'BAD_REQUEST', message: /percent-encoded UTF-8/ },
  },
  multipart: {
    ...post('--x--', { 'content-type': 'multipart/form-data; boundary=x' }),
    ...{ status: 415, code: 'BAD_REQUEST', message: /content type/ },
  },
  'a batch': {
    ...post(`[${query}]`),
    ...{ status: 400, code: 'BAD_REQUEST', message: /BatchHttpLink.*genql/ },
  },
  'no accepted media type': {
    ...post(query, { accept: 'text/html' }),
    ...{ status: 406, code: 'BAD_REQUEST', message: /Accept/ },
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
    expect(errors[0]?.extensions).toEqual({ code: wanted.code, requestId, release })
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

describe('the media type of an answer', () => {
  const modern = 'application/graphql-response+json'
  const accepts = {
    'application/json; version=1': 'application/json',
    '': 'application/json',
    '*/*': 'application/json',
    'application/json': 'application/json',
    [modern]: modern,
    [`${modern}, application/json;q=0.9`]: modern,
  }
  const others: Readonly<Record<string, Pick<Case, 'path' | 'method' | 'headers' | 'body'>>> = {
    'an answer': post(query),
    'an invalid document': post('{"query":"{ nothing }"}'),
    'a wrong token': post(query, { authorization: 'Bearer x' }),
    'a large body': post('x'.repeat(100_001)),
    ...cases,
  }
  test.each(Object.entries(others).filter(([name]) => !/malformed URL|media type/.test(name)))(
    'the media type is that of the header Accept: %s',
    async (_, { path = '/graphql', method = 'GET', headers = {}, body }) => {
      for (const [accept, type] of Object.entries(accepts)) {
        const given = { ...headers, ...(accept ? { accept } : {}) }
        const sent = request(app.url, { path, method, headers: given }).end(body)
        const [response] = (await once(sent, 'response')) as [IncomingMessage]
        response.resume()
        expect([accept, response.headers['content-type']]).toEqual([
          accept,
          `${type}; charset=utf-8`,
        ])
      }
    },
  )
})

test.each([
  'operationName=',
  'operationName',
  'query',
  'variables=&extensions=',
  'operationName=&variables=&extensions=',
  'variables=null&extensions=null',
])('an empty parameter by GET counts as absent: %s', async (parameters) => {
  const document = encodeURIComponent('{ viewer { handle } }')
  for (const search of [`query=${document}&${parameters}`, `${parameters}&query=${document}`]) {
    const answer = await fetch(`${app.url}/graphql?${search}`)
    expect([answer.status, await answer.json()]).toMatchObject([200, { data: { viewer: null } }])
  }
})

test.each(['utf-8', 'UTF-8', '"utf-8"', 'utf8'])(
  'the charset %s, a mark of the byte order and an empty operationName are accepted',
  async (charset) => {
    const body = `\ufeff${JSON.stringify({ query: '{ viewer { handle } }', operationName: '' })}`
    const answer = await app.send({
      body,
      headers: { 'content-type': `application/json;charset=${charset}` },
    })
    expect(answer).toMatchObject({ status: 200, errors: [], data: { viewer: null } })
  },
)

const ask = (origin: string): RequestInit => ({
  method: 'OPTIONS',
  headers: {
    origin,
    'access-control-request-method': 'GET',
    'access-control-request-headers': 'authorization,if-none-match',
  },
})
const corsOf = ({ status, headers }: Response) => ({
  status,
  origin: headers.get('access-control-allow-origin'),
  headers: headers.get('access-control-allow-headers'),
})
const refused = { status: 405, origin: null, headers: null }

describe('a browser', () => {
  /** Pages of apps and of extensions of browsers. */
  const ofApps = [
    ...['capacitor://localhost', 'tauri://localhost', 'ionic://localhost', 'app://-'],
    ...['chrome-extension://abcdefghijklmnop', 'moz-extension://0f0f-1'],
  ]
  const open = useApp({
    CORS_ORIGINS: `https://APP.example:443/, http://other.example:8080, ${ofApps}`,
  })
  const production = useApp({ NODE_ENV: 'production', AUTH_JWT_SECRET: 'x'.repeat(32) })
  const graphql = ({ url }: { url: string }, init: RequestInit) => fetch(`${url}/graphql`, init)

  test('may send requests from each origin in CORS_ORIGINS, however it is written', async () => {
    for (const origin of ['https://app.example', 'http://other.example:8080', ...ofApps]) {
      const answer = await graphql(open, ask(origin))
      expect(corsOf(answer)).toEqual({
        ...{ status: 204, origin, headers: 'authorization,if-none-match' },
      })
      expect(answer.headers.get('access-control-max-age')).toBe('7200')
      expect(answer.headers.get('access-control-allow-methods')).toBe('GET, POST')
      const posted = await graphql(open, post(query, { origin }))
      expect(corsOf(posted)).toMatchObject({ status: 200, origin })
    }
  })

  test.each([
    'http://localhost:5173',
    'http://localhost',
    'http://127.0.0.1:3000',
    'http://[::1]:8081',
    'https://localhost:5173',
  ])('may send requests from %s without configuration, except in production', async (origin) => {
    expect(corsOf(await graphql(app, ask(origin)))).toMatchObject({ status: 204, origin })
    expect(corsOf(await graphql(open, ask(origin)))).toMatchObject({ status: 204, origin })
    expect(corsOf(await graphql(production, ask(origin)))).toEqual(refused)
  })

  test.each([
    'https://evil.example',
    'capacitor://localhost:81',
    'chrome-extension://another',
    'http://app.example',
    'https://app.example:8443',
    'https://app.example.evil.example',
    'http://localhost.evil.example',
    'http://localhost:5173.evil.example',
    'http://127.0.0.1.evil.example',
    'null',
    'https://app.example, https://evil.example',
  ])('may not send requests from %s', async (origin) => {
    for (const one of [app, open, production]) {
      expect(corsOf(await graphql(one, ask(origin)))).toEqual(refused)
      expect(corsOf(await graphql(one, post(query, { origin }))).origin).toBeNull()
    }
  })

  test('may read the headers of answers and of refusals, and caches keep origins apart', async () => {
    const origin = 'http://localhost:5173'
    const refusals: Record<string, RequestInit> = {
      'an answer': post(query),
      'bad JSON': post('{'),
      'a compressed body': post(query, { 'content-encoding': 'gzip' }),
      'a bad token': post(query, { authorization: 'Bearer x' }),
      'a form': post(query, { 'content-type': 'text/plain' }),
    }
    const statuses: number[] = []
    for (const [name, init] of Object.entries(refusals)) {
      const headers = { ...(init.headers as Record<string, string>), origin }
      const answer = await graphql(app, { ...init, headers })
      statuses.push(answer.status)
      expect(answer.headers.get('access-control-allow-origin'), name).toBe(origin)
      expect(answer.headers.get('vary'), name).toMatch(/\bOrigin\b/)
      expect(answer.headers.get('access-control-expose-headers')?.split(', '), name).toEqual(
        expect.arrayContaining(['etag', 'x-request-id', 'retry-after', 'ratelimit-remaining']),
      )
    }
    expect(statuses).toEqual([200, 400, 415, 401, 415])
  })

  test('may not act for users, whatever it asks for', async () => {
    const origin = 'http://localhost:5173'
    for (const names of ['feedline-act-for', 'authorization, Feedline-Act-For,x-other']) {
      const headers = { 'access-control-request-headers': names }
      const { headers: asked } = ask(origin)
      const answer = await graphql(app, { ...ask(origin), headers: { ...asked, ...headers } })
      const allowed = answer.headers.get('access-control-allow-headers') ?? ''
      expect(allowed.split(',').filter(Boolean)).toEqual(
        names.includes('x-other') ? ['authorization', 'x-other'] : [],
      )
    }
  })

  test('may poll by GET after one preflight: the answer without a body names its origin too', async () => {
    const origin = 'http://localhost:5173'
    const query = '{ viewer { handle } }'
    const url = `${app.url}/graphql?${new URLSearchParams({ query })}`
    const headers = { origin, authorization: 'Dev ann' }
    const first = await fetch(url, { headers })
    const etag = first.headers.get('etag') ?? ''
    expect(first.headers.get('vary')).toBe(
      'Origin, Authorization, feedline-act-for, Accept, accept-encoding',
    )
    const second = await fetch(url, { headers: { ...headers, 'if-none-match': etag } })
    expect([corsOf(second), second.headers.get('etag')]).toEqual([
      { status: 304, origin, headers: null },
      etag,
    ])
  })
})
