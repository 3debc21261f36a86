import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { RateLimitDocument } from '@feedline/client'
import { beforeAll, describe, expect, test } from 'vitest'
import { clientOf } from '../../src/graphql/rate-limit.ts'
import { release } from '../../src/lib/release.ts'
import { type Answer, useApp, withRequestsMax } from '../support/app.ts'
import { failCommand, recorded } from '../support/mongo.ts'
import { handle, openAccounts } from '../support/services.ts'

/** One request is executed, and four wait. */
const busy = useApp({}, withRequestsMax(1))
const limited = useApp({ RATE_LIMIT_COST: '20000', RATE_LIMIT_MUTATIONS: '5' })
const behindProxy = useApp({ RATE_LIMIT_COST: '20000', TRUSTED_PROXIES: '127.0.0.1' })
const [ann, ben] = [handle('ann'), handle('ben')]
const query = '{ user(handle: "ann") { name } }'

beforeAll(async () => {
  for (const { services } of [busy, limited]) await openAccounts(services, [ann, ben])
})

const statusesOf = (answers: readonly Answer[]) => answers.map(({ status }) => status).sort()

/** Sends a request on a connection of its own, and as many bytes of its body as are given. */
function sendRaw(body: string, length = body.length, path = '/graphql'): Socket {
  const socket = connect(Number(new URL(busy.url).port), '127.0.0.1')
  const type = 'Content-Type: application/json'
  socket.write(`POST ${path} HTTP/1.1\r\nHost: x\r\n${type}\r\nContent-Length: ${length}\r\n\r\n`)
  socket.write(body)
  return socket
}

describe('a server with as many requests as it executes and lets wait', () => {
  test('more requests are refused with 503 and Retry-After, without a command, and the others are answered', async () => {
    await using _ = await failCommand(busy.database.client, {
      failCommands: ['aggregate'],
      times: 1,
      blockMs: 1_500,
    })
    const send = (length: number) => Array.from({ length }, () => busy.send({ query }))
    const { result, commands } = await recorded(busy.database.client, async () => {
      const served = send(5)
      await sleep(400)
      const refused = await Promise.all(send(7))
      return { served: await Promise.all(served), refused }
    })
    expect(statusesOf(result.served)).toEqual(Array(5).fill(200))
    expect(commands).toHaveLength(5)
    for (const { status, headers, errors } of result.refused) {
      expect(status).toBe(503)
      expect(headers.get('retry-after')).toBe('1')
      expect(errors).toEqual([
        {
          message: 'The server is too busy. Try again later.',
          extensions: {
            code: 'UNAVAILABLE',
            requestId: headers.get('x-request-id'),
            release,
            retryAfterSeconds: 1,
          },
        },
      ])
    }
  })

  test('a request is refused under each spelling of the URL', async () => {
    await using _ = await failCommand(busy.database.client, {
      failCommands: ['aggregate'],
      times: 1,
      blockMs: 1_500,
    })
    const others = Array.from({ length: 5 }, () => busy.send({ query }))
    await sleep(400)
    for (const path of ['/graphql', '/%67raphql', '/graphql#x', 'http://x/graphql', '/graphql?x']) {
      const socket = sendRaw(JSON.stringify({ query }), undefined, path)
      const head = await new Promise((resolve) =>
        socket.once('data', (data) => resolve(String(data))),
      )
      socket.destroy()
      expect([path, head]).toEqual([path, expect.stringMatching(/^HTTP\/1.1 (503|404)/)])
    }
    expect(statusesOf(await Promise.all(others))).toEqual(Array(5).fill(200))
  })

  test('a request is refused before its body is sent, and health checks are answered', async () => {
    await using _ = await failCommand(busy.database.client, {
      failCommands: ['aggregate'],
      times: 1,
      blockMs: 1_500,
    })
    const others = Array.from({ length: 5 }, () => busy.send({ query }))
    await sleep(400)
    const socket = sendRaw('{', 90_000)
    const head = await new Promise((resolve) =>
      socket.once('data', (data) => resolve(String(data))),
    )
    socket.destroy()
    expect(head).toMatch(/^HTTP\/1.1 503/)
    expect((await fetch(`${busy.url}/healthz`)).status).toBe(200)
    expect(statusesOf(await Promise.all(others))).toEqual(Array(5).fill(200))
  })

  test('a request that waits gives up its place when its client leaves', async () => {
    await using _ = await failCommand(busy.database.client, {
      failCommands: ['aggregate'],
      times: 1,
      blockMs: 2_300,
    })
    const first = busy.send({ query })
    await sleep(500)
    const waiting = Array.from({ length: 4 }, () => sendRaw(JSON.stringify({ query })))
    await sleep(800)
    expect((await busy.send({ query })).status).toBe(503)
    for (const one of waiting) one.destroy()
    await sleep(200)
    expect((await busy.send({ query })).status).toBe(200)
    expect((await first).status).toBe(200)
  })
})

describe('rate limits', () => {
  const costly = `{ user(handle: "ann") { followers(first: 100) { edges { node {
    followers(first: 60) { edges { cursor } } } } } } }`
  const mute = (as = ann, count = 1) =>
    limited.send({
      as,
      query: `mutation { ${Array.from({ length: count }, (_, n) => `m${n}: muteUser(input: { user: { handle: "ben"} }) { changed }`)} }`,
    })

  test('a viewer beyond the cost of a minute is refused with 429, without a command, and others are not', async () => {
    const allowed = await limited.send({ as: ann, query: costly })
    expect(allowed).toMatchObject({ status: 200, errors: [] })
    const { requested } = allowed.extensions.cost
    expect(allowed.headers.get('ratelimit-limit')).toBe('20000')
    expect(allowed.headers.get('ratelimit-remaining')).toBe(String(20_000 - requested))
    expect(allowed.headers.get('retry-after')).toBeNull()
    const { result, commands } = await recorded(limited.database.client, () =>
      limited.send({ as: ann, query: costly }),
    )
    expect(result.status).toBe(429)
    expect(result.errors.map(({ extensions }) => extensions.code)).toEqual(['RATE_LIMITED'])
    const seconds = Number(result.headers.get('retry-after'))
    expect(result.errors[0]?.extensions.retryAfterSeconds).toBe(seconds)
    expect(seconds).toBeGreaterThan(0)
    expect(seconds).toBeLessThanOrEqual(Number(result.headers.get('ratelimit-reset')))
    expect(commands).toEqual([])
    expect(await limited.send({ as: ben, query: costly })).toMatchObject({ status: 200 })
    expect(await limited.send({ query: costly })).toMatchObject({ status: 200 })
    expect(await limited.send({ query: costly })).toMatchObject({ status: 429 })
  })

  test('mutations have a limit of their own, and all mutations of a request count', async () => {
    expect(await mute(ann, 4)).toMatchObject({ status: 200, errors: [] })
    expect(await mute(ann, 2)).toMatchObject({ status: 429 })
    expect(await mute(ann)).toMatchObject({ status: 200 })
    expect(await mute(ann)).toMatchObject({ status: 429 })
  })

  test('a client reads its rate limit, and null where there is none', async () => {
    const { rateLimit } = await limited.ask('cat', RateLimitDocument)
    expect(rateLimit).toMatchObject({ limit: 20_000, remaining: 19_995, cost: 5 })
    expect(Date.parse(String(rateLimit.resetAt)) - Date.now()).toBeLessThan(1_000)
    expect(await busy.ask('cat', RateLimitDocument)).toEqual({ rateLimit: null })
  })

  test('behind a trusted proxy, an anonymous client is the address that the proxy names', async () => {
    const from = (address: string) =>
      behindProxy.send({ query: costly, headers: { 'x-forwarded-for': address } })
    expect(await from('198.51.100.1')).toMatchObject({ status: 200 })
    expect(await from('198.51.100.1')).toMatchObject({ status: 429 })
    expect(await from('198.51.100.2')).toMatchObject({ status: 200 })
    const named = await limited.send({ query, headers: { 'x-forwarded-for': '198.51.100.3' } })
    expect(named.headers.get('ratelimit-remaining')).not.toBe('9900')
  })

  test('the addresses of one IPv6 network are one client', () => {
    const of = (address: string) => clientOf(undefined, address).client
    expect(of('2001:db8:1:2:3:4:5:6')).toBe(of('2001:db8:1:2::9'))
    expect(of('2001:db8::1')).toBe(of('2001:DB8::2'))
    expect(of('2001:db8:1:2::1')).not.toBe(of('2001:db8:1:3::1'))
    expect(of('2001:0db8:0:0::1')).toBe(of('2001:db8::1'))
    expect(of('::1')).toBe(of('::2'))
    expect(of('::ffff:192.0.2.1')).not.toBe(of('::ffff:192.0.2.2'))
  })

  test('an address is one client, however a proxy writes it', () => {
    const of = (address: string) => clientOf(undefined, address).client
    for (const written of [
      '192.0.2.1:5000',
      '192.0.2.1:5001',
      '::ffff:192.0.2.1',
      '::FFFF:192.0.2.1',
    ]) {
      expect(of(written)).toBe(of('192.0.2.1'))
    }
    expect(of('[2001:db8::1]:5000')).toBe(of('2001:db8::1'))
    const sender = { viewer: ann, server: undefined, isActing: false }
    const ofAnn = (address: string) => clientOf(sender, address).client
    expect(ofAnn('192.0.2.1')).toBe(ofAnn('192.0.2.2'))
  })
})
