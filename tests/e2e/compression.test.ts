import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { beforeAll, describe, expect, test } from 'vitest'
import { useApp } from '../support/app.ts'
import { labelsOf } from '../support/commands.ts'
import { noteFact } from '../support/facts.ts'
import { recorded } from '../support/mongo.ts'
import { handle, openAccounts } from '../support/services.ts'

const app = useApp({ FEED_STRATEGY: 'INBOX' })
const [ann, ben] = [handle('ann'), handle('ben')]

beforeAll(async () => {
  await openAccounts(app.services, [ann, ben])
  await app.services.follows.follow(ann, ben)
  for (let n = 0; n < 30; n++)
    await app.services.posts.create(ben, { text: `Post ${n} has some words, as posts have` })
  await app.rest()
})

const page =
  '{ timeline(first: 30) { edges { cursor node { id text createdAt author { handle } } } } }'
const urlOf = (query: string) => `/graphql?${new URLSearchParams({ query })}`

/** Sends a request without the decompression of `fetch`. */
async function send(encodings: string | undefined, headers = {}, path = urlOf(page)) {
  const accepted = encodings === undefined ? {} : { 'accept-encoding': encodings }
  const sent = request(app.url, {
    path,
    headers: { ...accepted, authorization: 'Dev ann', ...headers },
  })
  const [answer] = (await once(sent.end(), 'response')) as [IncomingMessage]
  return { status: answer.statusCode, headers: answer.headers, body: await buffer(answer) }
}

const expand = { br: brotliDecompressSync, gzip: gunzipSync }

describe('an answer over 1 KB', () => {
  test.each([
    ['br', 'br'],
    ['gzip', 'gzip'],
    ['gzip, deflate, br, zstd', 'br'],
    ['gzip;q=1, br;q=0.1', 'gzip'],
    ['gzip, br;q=0', 'gzip'],
    ['*', 'gzip'],
  ] as const)('is compressed for a client that accepts %s, as %s', async (accepted, encoding) => {
    const plain = await send(undefined)
    const { headers, body } = await send(accepted)
    expect(headers['content-encoding']).toBe(encoding)
    expect(headers.vary?.toLowerCase()).toContain('accept-encoding')
    expect(Number(headers['content-length'])).toBe(body.length)
    expect(expand[encoding](body).toString()).toBe(plain.body.toString())
    noteFact(`a page of ${plain.body.length} bytes takes ${body.length} as ${encoding}`)
    expect(body.length).toBeLessThan(plain.body.length / 3)
  })

  test.each([undefined, '', 'identity', 'deflate', 'zstd', 'br;q=0', 'nonsense'])(
    'is sent as it is to a client that accepts %s',
    async (accepted) => {
      const { headers, body } = await send(accepted)
      expect(headers['content-encoding']).toBeUndefined()
      expect(headers.vary).toContain('accept-encoding')
      expect(JSON.parse(body.toString()).data.timeline.edges).toHaveLength(30)
    },
  )

  test('has the same entity tag in each form, and 304 has no body and no encoding', async () => {
    const answers = [await send('br'), await send('gzip'), await send(undefined)]
    const [etag] = new Set(answers.map(({ headers }) => headers.etag))
    expect(new Set(answers.map(({ headers }) => headers.etag)).size).toBe(1)
    expect(etag).toMatch(/^W\//)
    for (const accepted of ['br', undefined]) {
      const { status, headers, body } = await send(accepted, { 'if-none-match': etag })
      expect([status, body.length, headers.etag]).toEqual([304, 0, etag])
      expect([headers['content-encoding'], headers['content-length']]).toEqual([
        undefined,
        undefined,
      ])
      expect(headers.vary).toContain('accept-encoding')
    }
  })

  test('is compressed from memory too', async () => {
    for (let times = 0; times < 3; times++) await send('br')
    const { result, commands } = await recorded(app.database.client, () => send('br'))
    expect(labelsOf(commands)).toEqual(['read inbox'])
    expect(result.headers['content-encoding']).toBe('br')
    expect(brotliDecompressSync(result.body).toString()).toBe(
      (await send(undefined)).body.toString(),
    )
  })
})

test('a small answer, a refusal and a HEAD are not compressed', async () => {
  const small = await send('br', {}, urlOf('{ viewer { handle } }'))
  expect([small.status, small.headers['content-encoding']]).toEqual([200, undefined])
  const refused = await send('br', {}, '/nothing')
  expect([refused.status, refused.headers['content-encoding']]).toEqual([404, undefined])
  const head = await fetch(`${app.url}${urlOf(page)}`, { method: 'HEAD' })
  expect([head.status, head.headers.get('content-encoding')]).toEqual([405, null])
})

test('a compressed request is refused, as before', async () => {
  const answer = await fetch(`${app.url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'content-encoding': 'br' },
    body: 'x',
  })
  expect(answer.status).toBe(415)
})
