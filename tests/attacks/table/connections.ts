import { type Attack, rawAttack } from '../attack.ts'

const body = JSON.stringify({ query: '{ viewer { handle } }' })
const head = 'POST /graphql HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n'
const chunked = `${head}Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n`
const hidden = 'POST /graphql HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n'
const bad = ['400 BAD_REQUEST']

/** Two servers in a row must never see different requests. The hidden request gets no answer. */
const smuggling: readonly Attack[] = [
  ['two lengths', `${head}Content-Length: 5\r\nContent-Length: 6\r\n\r\n${hidden}`],
  ['two equal lengths', `${head}Content-Length: 0\r\nContent-Length: 0\r\n\r\n${hidden}`],
  ['a list of lengths', `${head}Content-Length: 0, 0\r\n\r\n${hidden}`],
  ...['-1', '+5', '0x5', '5 5', '5\t6', '1e1', '', 'a', '9'.repeat(30), '5;'].map((length) => [
    `the length ${length}`,
    `${head}Content-Length: ${length}\r\n\r\n${hidden}`,
  ]),
  [
    'a length and chunks',
    `${head}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${hidden}`,
  ],
  [
    'chunks and a length',
    `${head}Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n${hidden}`,
  ],
  ...[
    'xchunked',
    'chunked, identity',
    'identity',
    'chunked, gzip',
    '"chunked"',
    'chunk',
    'cow, chunked1',
  ].map((coding) => [
    `the coding ${coding}`,
    `${head}Transfer-Encoding: ${coding}\r\n\r\n0\r\n\r\n${hidden}`,
  ]),
  ['a space before a colon', `${head}Content-Length : 0\r\n\r\n${hidden}`],
  ['a folded header', `${head}X-A: b\r\n c\r\nContent-Length: 0\r\n\r\n${hidden}`],
  ['a folded coding', `${head}Transfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n${hidden}`],
  ['a header without a colon', `${head}X\r\nContent-Length: 0\r\n\r\n${hidden}`],
  ['an empty header name', `${head}: x\r\nContent-Length: 0\r\n\r\n${hidden}`],
  ['a null byte in a header', `${head}X-A: a\0b\r\nContent-Length: 0\r\n\r\n${hidden}`],
  ['a bare carriage return', `${head}X-A: a\rb\r\nContent-Length: 0\r\n\r\n${hidden}`],
  ['a line feed for a line end', 'POST /graphql HTTP/1.1\nHost: a\n\n'],
  ['a chunk of a wrong size', `${chunked}zz\r\n{}\r\n0\r\n\r\n`],
  ['a chunk of a negative size', `${chunked}-2\r\n{}\r\n0\r\n\r\n`],
  ['a chunk longer than its size', `${chunked}1\r\n{}\r\n0\r\n\r\n`],
  ['a chunk of a huge size', `${chunked}ffffffffffffffffff\r\n{}\r\n0\r\n\r\n`],
  ['a chunk size without an end', `${chunked}${'0'.repeat(40)}2 x\r\n{}\r\n0\r\n\r\n`],
  ['HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
  ['HTTP/0.9', 'GET /graphql\r\n\r\n'],
  ['HTTP/9.9', `GET /graphql HTTP/9.9\r\nHost: a\r\n\r\n`],
  ['no HTTP', 'HELO feedline\r\n\r\n'],
  [
    'two spaces in the first line',
    'GET  /graphql  HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n',
  ],
  ['no host', 'POST /graphql HTTP/1.1\r\nContent-Length: 0\r\nConnection: close\r\n\r\n'],
].map(([name = '', sent = '']) => rawAttack(`smuggling: ${name}`, bad, sent))

const tls = Buffer.from('1603010200010001fc0303'.padEnd(200, '0'), 'hex')
const ask = (close: boolean) => {
  const line = close ? 'Connection: close\r\n' : ''
  return `${head}${line}Content-Length: ${body.length}\r\n\r\n${body}`
}

const connections: readonly Attack[] = [
  rawAttack('TLS on the port of HTTP', bad, [tls]),
  rawAttack('null bytes', bad, [Buffer.alloc(1_000)]),
  rawAttack('a line that never ends', ['431 BAD_REQUEST'], ['GET /', 'a'.repeat(40_000)]),
  rawAttack('two requests at once', ['200 OK', '200 OK'], ask(false) + ask(true)),
  rawAttack(
    'a bad request after good ones',
    ['200 OK', '200 OK', '400 BAD_REQUEST'],
    `${ask(false).repeat(2)}NO\r\n\r\nNO\r\n\r\n`,
  ),
  rawAttack(
    'a bad request after a good one, in pieces',
    ['200 OK', '400 BAD_REQUEST'],
    [`${ask(false)}N`, 'O\r\n', '\r\n', 'NO\r\n\r\n'],
  ),
  rawAttack(
    'a bad chunk after a good request',
    ['200 OK', '400 BAD_REQUEST'],
    `${ask(false)}${chunked}zz\r\n{}\r\n0\r\n\r\n`,
  ),
  rawAttack('bytes after the last request', ['200 OK'], `${ask(true)}NO\r\n\r\n`),
  rawAttack('a request after a bad one', bad, `NO\r\n\r\n${ask(true)}`),
  rawAttack(
    'more bytes than the length',
    ['400 BAD_REQUEST', '400 BAD_REQUEST'],
    `${head}Content-Length: 2\r\n\r\n{}{}`,
  ),
  rawAttack(
    'fifty requests at once',
    [...Array(49).fill('200 OK'), '200 OK'],
    ask(false).repeat(49) + ask(true),
  ),
  rawAttack(
    'a small chunk at a time',
    ['200 OK'],
    [chunked, ...[...body].map((one) => `1\r\n${one}\r\n`), '0\r\n\r\n'].join(''),
  ),
  rawAttack(
    'chunks above the limit',
    ['413 PAYLOAD_TOO_LARGE'],
    [chunked, ...Array(13).fill(`2000\r\n${' '.repeat(8_192)}\r\n`)],
  ),
  rawAttack(
    'a long extension of a chunk',
    ['400 BAD_REQUEST'],
    [`${chunked}2;${'a'.repeat(40_000)}\r\n{}\r\n0\r\n\r\n`],
  ),
  rawAttack(
    'trailers',
    ['200 OK'],
    `${chunked}${body.length.toString(16)}\r\n${body}\r\n0\r\nAuthorization: Bearer x\r\n\r\n`,
  ),
  rawAttack('a body that is too short', bad, [`${head}Content-Length: 90000\r\n\r\n{`], 'end'),
  rawAttack(
    'a body that never comes',
    ['408 BAD_REQUEST'],
    [`${head}Content-Length: 90000\r\n\r\n`],
  ),
  rawAttack('chunks that never end', ['408 BAD_REQUEST'], [`${chunked}2\r\n{}\r\n`]),
  rawAttack('a head that never ends', ['408 BAD_REQUEST'], [head]),
  rawAttack('no byte', ['408 BAD_REQUEST'], []),
  rawAttack('a head without its end', bad, [head], 'end'),
  rawAttack('a client that leaves in the head', [], [head], 'leave'),
  rawAttack(
    'a client that leaves in the body',
    [],
    [`${head}Content-Length: 90000\r\n\r\n{`],
    'leave',
  ),
  rawAttack('a client that leaves after its request', [], [ask(false)], 'leave'),
  rawAttack('a tunnel', [], 'CONNECT a:443 HTTP/1.1\r\nHost: a:443\r\n\r\n'),
  rawAttack(
    'an upgrade to a websocket',
    ['400 BAD_REQUEST'],
    'GET /graphql HTTP/1.1\r\nHost: a\r\nConnection: Upgrade, close\r\nUpgrade: websocket\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n',
  ),
  rawAttack(
    'an upgrade to HTTP/2',
    ['200 OK'],
    ask(true).replace(
      'Connection: close',
      'Connection: Upgrade, HTTP2-Settings, close\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA',
    ),
  ),
  rawAttack(
    'an expectation',
    ['200 OK'],
    ask(true).replace('\r\n\r\n', '\r\nExpect: more\r\n\r\n'),
  ),
  rawAttack(
    'an expectation of a refused body',
    ['413 PAYLOAD_TOO_LARGE'],
    `${head}Connection: close\r\nExpect: 100-continue\r\nContent-Length: 900000\r\n\r\n`,
  ),
  rawAttack(
    'an absolute URL',
    ['404 NOT_FOUND'],
    ask(true).replace('/graphql', 'http://b.example/other'),
  ),
]

/** Hosts that no URL has. */
const hosts: readonly Attack[] = [
  ...['', ' ', 'a b', '[', 'a:99999', 'a:b', 'a/b', 'a@b', '%zz', '<x>', ':', '[::1'].map(
    (host) => [`the host ${host.slice(0, 20)}`, ask(true).replace('Host: a', `Host: ${host}`)],
  ),
  ['two hosts', ask(true).replace('Host: a', 'Host: a\r\nHost: b')],
  ['HTTP/1.0 without a host', ask(true).replace('HTTP/1.1', 'HTTP/1.0').replace('Host: a\r\n', '')],
  ['an absolute URL without a host', ask(true).replace('/graphql', 'http:///graphql')],
  ['an absolute URL of a wrong host', ask(true).replace('/graphql', 'http://[/graphql')],
].map(([name = '', sent = '']) => rawAttack(name, bad, sent))

/** Bytes that are no valid HTTP, or not what a connection expects. */
export const rawBytes: readonly Attack[] = [...smuggling, ...connections, ...hosts]
