import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { getOperationAST, parse, validate } from 'graphql'
import { describe, expect, test } from 'vitest'
import { createSchema } from '../../src/graphql/schema.ts'
import { useApp } from '../support/app.ts'
import { noteFact } from '../support/facts.ts'

const app = useApp()

test.each(['/graphql', '/graphql?query={__typename}', '/nothing', '/readyz', '/%zz'])(
  'the answer to %s is not stored, not embedded, and its type is not guessed',
  async (path) => {
    const { headers } = await fetch(`${app.url}${path}`)
    expect(Object.fromEntries(headers)).toMatchObject({
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      'content-security-policy': expect.stringMatching(
        /^default-src 'none';.* frame-ancestors 'none'$/,
      ),
    })
  },
)

test('the policy of the playground allows its inline scripts by their hashes, and no other script', async () => {
  const answer = await fetch(`${app.url}/`)
  const policy = answer.headers.get('content-security-policy') ?? ''
  const page = await answer.text()
  const scripts = [...page.matchAll(/<script\b[^>]*>(.*?)<\/script>/gs)]
  const hashes = scripts.map(
    ([, script = '']) => `'sha256-${createHash('sha256').update(script).digest('base64')}'`,
  )
  expect(hashes.length).toBeGreaterThan(0)
  // A browser hashes scripts after it has changed CR to LF.
  expect(page).not.toContain('\r')
  expect(/script-src ([^;]*)/.exec(policy)?.[1]?.split(' ')).toEqual(hashes)
  expect(page).not.toMatch(/<[a-z][^>]*\son(click|load|error)=/)
})

describe('the playground', () => {
  /** Sends a request without the decompression of `fetch`. */
  const load = async (headers: Record<string, string> = {}) => {
    const sent = request(app.url, { path: '/', headers })
    const [answer] = (await once(sent.end(), 'response')) as [IncomingMessage]
    return { status: answer.statusCode, headers: answer.headers, body: await buffer(answer) }
  }

  test.each([
    ['br', brotliDecompressSync],
    ['gzip', gunzipSync],
  ] as const)('is sent as %s, in less than a third of its bytes', async (encoding, expand) => {
    const plain = await load()
    const { status, headers, body } = await load({ 'accept-encoding': encoding })
    expect([status, headers['content-encoding']]).toEqual([200, encoding])
    expect(body.length).toBeLessThan(plain.body.length / 3)
    noteFact(`the playground: ${plain.body.length} bytes, ${body.length} as ${encoding}`)
    expect(expand(body).equals(plain.body)).toBe(true)
    expect(Number(headers['content-length'])).toBe(body.length)
    expect(headers.vary).toContain('accept-encoding')
    expect([headers.etag, headers['content-security-policy']]).toEqual([
      ...[plain.headers.etag, plain.headers['content-security-policy']],
    ])
  })

  test('is kept by a browser, which asks each time and gets 304 without a body', async () => {
    const { headers } = await load()
    expect(headers).toMatchObject({
      ...{ 'cache-control': 'no-cache', 'x-content-type-options': 'nosniff' },
      'content-type': 'text/html; charset=utf-8',
    })
    const again = await load({ 'if-none-match': headers.etag ?? '', 'accept-encoding': 'br' })
    expect([again.status, again.body.length]).toEqual([304, 0])
    expect(again.headers).toMatchObject({ etag: headers.etag, 'cache-control': 'no-cache' })
    expect(again.headers['content-encoding']).toBeUndefined()
  })

  test('fits a phone, and each of its examples is valid and named', async () => {
    const page = (await load()).body.toString()
    expect(page).toContain('<meta name="viewport" content="width=device-width, initial-scale=1" />')
    const [, tabs = '[]'] = /"defaultTabs":(\[.*?\}\]),"/s.exec(page) ?? []
    const examples: readonly { query: string; headers: string }[] = JSON.parse(tabs)
    const schema = createSchema()
    const named = examples.map(({ query, headers }) => {
      const document = parse(query)
      expect(validate(schema, document)).toEqual([])
      return `${JSON.parse(headers).Authorization} ${getOperationAST(document)?.name?.value}`
    })
    expect(named).toEqual([
      ...['Dev alice AliceJoins', 'Dev bob BobJoins', 'Dev alice AliceFollowsBob'],
      ...['Dev bob BobPosts', 'Dev alice AliceReads', 'Dev alice AlicePolls'],
      ...['Dev alice AliceLikes', 'Dev bob BobFails'],
    ])
  })
})
