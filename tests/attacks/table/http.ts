import { gzipSync } from 'node:zlib'
import { type Attack, annsToken, bytesOf, httpAttack, rawAttack } from '../attack.ts'

const json = ['Content-Type', 'application/json'] as const
const query = '{ viewer { handle } }'
const body = JSON.stringify({ query })
const search = `/graphql?query=${encodeURIComponent(query)}`

const methods: readonly Attack[] = [
  ...[
    'PUT',
    'DELETE',
    'PATCH',
    'OPTIONS',
    'TRACE',
    'PROPFIND',
    'MKCOL',
    'LOCK',
    'SEARCH',
    'PURGE',
    'QUERY',
  ].map((method) =>
    httpAttack(`the method ${method}`, '405 BAD_REQUEST', { method, headers: [json], body }),
  ),
  httpAttack('a HEAD', '405 ', { method: 'HEAD', path: search }),
  ...['get', 'Post', 'FOO', '', 'GET\t', '{}', 'A'.repeat(2_000)].map((method) =>
    httpAttack(`the method ${JSON.stringify(method.slice(0, 20))}`, '400 BAD_REQUEST', {
      method,
      body,
    }),
  ),
]

const paths: readonly Attack[] = [
  ...[
    '/graphql/',
    '/graphql/x',
    '//graphql',
    '/GraphQL',
    '/graphql;x=1',
    '/graphql.json',
    '/graphql%2F',
    '/graphql%00',
  ].map((path) => ({ path, answer: '404 NOT_FOUND' })),
  ...[
    '/',
    '/admin',
    '/metrics',
    '/livez',
    '/.env',
    '/.git/config',
    '/../../etc/passwd',
    '/..%2f..%2fetc%2fpasswd',
  ].map((path) => ({ path, answer: '404 NOT_FOUND' })),
  ...['/__proto__', '/constructor', '*', 'graphql', `/${'a'.repeat(10_000)}`, '/:id', '/*'].map(
    (path) => ({
      path,
      answer: path === 'graphql' ? '400 BAD_REQUEST' : '404 NOT_FOUND',
    }),
  ),
  ...['/%zz', '/graphql%', '/%c0%ae%c0%ae/', '/%e0%a4%a'].map((path) => ({
    path,
    answer: '400 BAD_REQUEST',
  })),
  { path: `/${'a'.repeat(20_000)}`, answer: '431 BAD_REQUEST' },
].map(({ path, answer }) =>
  httpAttack(`the path ${path.slice(0, 40)} of ${path.length}`, answer, {
    path,
    headers: [json],
    body,
  }),
)

const urls: readonly Attack[] = [
  ...[
    '',
    '?',
    '?query',
    '?query=',
    '?variables={}',
    '?query=a&query=b',
    '?QUERY={viewer{handle}}',
    '?query[]=x',
    '?query[$ne]=1',
    '?__proto__[x]=1',
  ].map((path) => ({ path: `/graphql${path}`, answer: '400 BAD_REQUEST' })),
  ...['x', '[1]', '5', 'null1', '%7B', '{"__proto__":{}'].map((value) => ({
    path: `${search}&variables=${encodeURIComponent(value)}`,
    answer: '400 BAD_REQUEST',
  })),
  ...['x', '[1]', '5'].map((value) => ({
    path: `${search}&extensions=${value}`,
    answer: '400 BAD_REQUEST',
  })),
  { path: `${search}&operationName=b`, answer: '400 OPERATION_RESOLUTION_FAILURE' },
  { path: '/graphql?query=mutation{deleteUser(input:{}){changed}}', answer: '405 BAD_REQUEST' },
  { path: '/graphql?query=%ff', answer: '400 BAD_REQUEST' },
  { path: '/graphql?query={', answer: '400 GRAPHQL_PARSE_FAILED' },
].map(({ path, answer }) =>
  httpAttack(`GET ${path.slice(0, 90)}`, answer, {
    method: 'GET',
    path,
    headers: [['Accept', 'application/graphql-response+json']],
  }),
)

/**
 * Many beginnings of parameters with encoded names, and no end. A server must not search for one
 * from each of them.
 */
const longNames = httpAttack('a GET with thousands of names of parameters', '400 BAD_REQUEST', {
  method: 'GET',
  path: `/graphql?${'?%25'.repeat(3_500)}`,
  headers: [
    ['Accept', 'application/graphql-response+json'],
    ['Authorization', `Bearer ${annsToken}`],
  ],
})

const mutation = 'mutation { __typename }'

/**
 * What a page of another site can make a browser send without asking. Only an anonymous query is
 * answered.
 */
const forgeries: readonly Attack[] = [
  httpAttack('a GET of another site', '200 OK', {
    method: 'GET',
    path: search,
    headers: [
      ['Origin', 'https://evil.example'],
      ['Cookie', `token=${annsToken}; authorization=Bearer ${annsToken}`],
    ],
  }),
  httpAttack('a mutation as a GET of another site', '405 BAD_REQUEST', {
    method: 'GET',
    path: `/graphql?query=${encodeURIComponent(mutation)}`,
  }),
  httpAttack('a mutation in the URL of a POST', '400 BAD_REQUEST', {
    path: `/graphql?query=${encodeURIComponent(mutation)}`,
  }),
  httpAttack('GET with a type of forms', '415 BAD_REQUEST', {
    method: 'GET',
    path: search,
    headers: [['Content-Type', 'text/plain']],
  }),
  ...[
    'text/plain',
    'text/plain; charset=utf-8',
    'TEXT/PLAIN',
    'text/plain; application/json',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
  ].map((type) =>
    httpAttack(`a form as ${type}`, '415 BAD_REQUEST', { headers: [['Content-Type', type]], body }),
  ),
]

const types: readonly Attack[] = [
  ...[
    'text/xml',
    'application/graphql',
    'application/octet-stream',
    'application/jsonx',
    'json',
    '*/*',
    '',
    ';',
    '/',
    'application/json, text/plain',
  ].map((type) =>
    httpAttack(`the content type ${JSON.stringify(type)}`, '415 BAD_REQUEST', {
      headers: [['Content-Type', type]],
      body,
    }),
  ),
  httpAttack('no content type', '415 BAD_REQUEST', { body }),
  httpAttack('a byte order mark', '200 OK', { headers: [json], body: `\ufeff${body}` }),
  httpAttack('two byte order marks', '400 BAD_REQUEST', {
    headers: [json],
    body: `\ufeff\ufeff${body}`,
  }),
  httpAttack('UTF-16', '415 BAD_REQUEST', {
    headers: [['Content-Type', 'application/json; charset=utf-16']],
    body: Buffer.from(body, 'utf16le'),
  }),
  httpAttack('UTF-16 without a charset', '400 BAD_REQUEST', {
    headers: [json],
    body: Buffer.from(`\ufeff${body}`, 'utf16le'),
  }),
  httpAttack('bytes that are no UTF-8', '400 BAD_REQUEST', {
    headers: [json],
    body: Buffer.from([0xff, 0xfe, 0xc0, 0xaf]),
  }),
  httpAttack('random bytes', '400 BAD_REQUEST', {
    headers: [json],
    body: Buffer.from('00ff10a0b0c0'.repeat(500), 'hex'),
  }),
  ...['gzip', 'deflate', 'br', 'identity', 'x', 'gzip, gzip', ''].map((encoding) =>
    httpAttack(`the encoding ${JSON.stringify(encoding)}`, '415 BAD_REQUEST', {
      headers: [json, ['Content-Encoding', encoding]],
      body: gzipSync(Buffer.alloc(1_000_000)),
    }),
  ),
  ...['text/html', 'x', 'image/*;q=2'].map((accept) =>
    httpAttack(`accepting ${accept}`, '406 BAD_REQUEST', {
      headers: [json, ['Accept', accept]],
      body,
    }),
  ),
]

const sizes: readonly Attack[] = [
  httpAttack('a body above the limit', '413 PAYLOAD_TOO_LARGE', {
    headers: [json],
    body: body.padEnd(100_001),
  }),
  httpAttack('a body far above the limit', '413 PAYLOAD_TOO_LARGE', {
    headers: [json],
    body: body.padEnd(3_000_000),
  }),
  httpAttack('a header above the limit', '431 BAD_REQUEST', {
    headers: [json, ['X-A', 'a'.repeat(20_000)]],
    body,
  }),
  httpAttack('headers above the limit', '431 BAD_REQUEST', {
    headers: [json, ...Array.from({ length: 3_000 }, (_, n) => [`X-${n}`, 'aaaaa'] as const)],
    body,
  }),
]

const forwarded: readonly Attack[] = [
  ...['1.2.3.4', '::1', 'x', '1.2.3.4, 5.6.7.8', "' OR 1=1", 'a'.repeat(4_000)].map((address) =>
    httpAttack(`forwarded for ${address.slice(0, 20)}`, '200 OK', {
      headers: [
        json,
        ['X-Forwarded-For', address],
        ['X-Forwarded-Host', address],
        ['X-HTTP-Method-Override', 'DELETE'],
      ],
      body,
    }),
  ),
  ...['x\u0085y', '$(jndi:ldap://127.0.0.1:9/a)', '() { :; }; echo x', '%0d%0aX: y'].map((value) =>
    httpAttack(`a header ${JSON.stringify(value)}`, '200 OK', {
      headers: [json, ['User-Agent', value], ['X-Request-Id', value], ['Origin', value]],
      body,
    }),
  ),
]

/** Requests that are valid HTTP, and the control without a defect. */
export const transport: readonly Attack[] = [
  ...methods,
  ...paths,
  ...urls,
  longNames,
  ...forgeries,
  ...types,
  ...sizes,
  ...forwarded,
  rawAttack('a request without a defect', ['200 OK'], [bytesOf({ headers: [json], body })]),
]
