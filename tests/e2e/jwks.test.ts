import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose'
import { afterAll, afterEach, describe, expect, test, vi } from 'vitest'
import { type TestApp, useApp } from '../support/app.ts'
import { expectUnauthenticated, now, viewerOf, who } from '../support/sign-in.ts'

const published: JWK[] = []
let fetches = 0
/** The answers of the key URL of the failing app. */
let sick = { status: 200, body: '' }
const keyServer = await new Promise<Server>((resolve) => {
  const server = createServer(({ url }, response) => {
    if (url === '/sick') return response.writeHead(sick.status).end(sick.body)
    fetches++
    return response.end(JSON.stringify({ keys: published }))
  }).listen(0, '127.0.0.1', () => resolve(server))
})
const keyHost = `http://127.0.0.1:${(keyServer.address() as AddressInfo).port}`
afterAll(() => keyServer.close())

const keyed = useApp({ AUTH_JWKS_URL: `${keyHost}/keys` })
const sickly = useApp({ AUTH_JWKS_URL: `${keyHost}/sick` })
const keyless = useApp({ AUTH_JWKS_URL: 'http://127.0.0.1:9/keys' })

describe('keys at a URL', () => {
  const key = async (kid: string) => {
    const { privateKey, publicKey } = await generateKeyPair('ES256', { extractable: true })
    published.push({ ...(await exportJWK(publicKey)), kid, alg: 'ES256' })
    return (sub: string, seconds = 60) =>
      new SignJWT({ sub, exp: now() + seconds })
        .setProtectedHeader({ alg: 'ES256', kid })
        .sign(privateKey)
  }

  test('keys at AUTH_JWKS_URL verify tokens, and a secret does not', async () => {
    const sign = await key('first')
    expect((await who(keyed, `Bearer ${await sign('bob')}`)).data.viewer).toEqual(viewerOf('bob'))
    const confused = new SignJWT({ sub: 'bob', exp: now() + 60 })
      .setProtectedHeader({ alg: 'HS256', kid: 'first' })
      .sign(new TextEncoder().encode(JSON.stringify(published[0])))
    expectUnauthenticated(await who(keyed, `Bearer ${await confused}`))
  })

  afterEach(() => void vi.useRealTimers())

  test('changed keys are fetched again, but not for every token of an unknown key', async () => {
    const old = await key('old')
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 60_000 })
    const token = await old('bob', 600)
    expect((await who(keyed, `Bearer ${token}`)).data.viewer).toEqual(viewerOf('bob'))
    published.length = 0
    const changed = await key('changed')
    const before = fetches
    for (let n = 0; n < 3; n++) {
      expectUnauthenticated(await who(keyed, `Bearer ${await changed('bob')}`))
    }
    expect(fetches).toBe(before)
    vi.setSystemTime(Date.now() + 31_000)
    expect((await who(keyed, `Bearer ${await changed('bob')}`)).data.viewer).toEqual(
      viewerOf('bob'),
    )
    expect(fetches).toBe(before + 1)
    expectUnauthenticated(await who(keyed, `Bearer ${await old('bob')}`))
    // A verification counts for a minute.
    vi.setSystemTime(Date.now() + 30_000)
    expectUnauthenticated(await who(keyed, `Bearer ${token}`))
  })

  test('a token that was accepted is refused after it has expired', async () => {
    const sign = await key('expiring')
    // Servers fetch the keys again 30 s after they last did.
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 300_000 })
    const token = await sign('bob', 30)
    expect((await who(keyed, `Bearer ${token}`)).data.viewer).toEqual(viewerOf('bob'))
    vi.setSystemTime(Date.now() + 36_000)
    const refused = await who(keyed, `Bearer ${token}`)
    expectUnauthenticated(refused)
    expect(refused.errors[0]?.message).toBe('Authorization: the token has expired')
  })

  const faults: Readonly<Record<string, [TestApp, typeof sick]>> = {
    'are out of reach': [keyless, { status: 200, body: '' }],
    'come with a status of 500': [sickly, { status: 500, body: '{"keys":[]}' }],
    'are elsewhere': [sickly, { status: 302, body: '' }],
    'are no JSON': [sickly, { status: 200, body: '<html>' }],
    'are no keys': [sickly, { status: 200, body: '{"error":"later"}' }],
  }
  test.each(Object.entries(faults))(
    'a key set that %s answers UNAVAILABLE, and the cause is in the log',
    async (_, [app, answer]) => {
      const sign = await key('unseen')
      sick = answer
      const seen = app.logged.length
      const { status, headers, errors } = await who(app, `Bearer ${await sign('bob')}`)
      expect([status, errors[0]?.extensions.code]).toEqual([503, 'UNAVAILABLE'])
      expect(headers.get('www-authenticate')).toBeNull()
      expect(errors[0]?.message).toBe('The keys that verify tokens are unreachable')
      const lines = app.logged.slice(seen).map((line) => JSON.parse(line))
      const requestId = headers.get('x-request-id')
      expect(lines).toMatchObject([{ level: 50, code: 'UNAVAILABLE', requestId }])
      expect(lines[0].err.message).not.toBe('')
    },
  )

  test('a token of a key outside the key set is refused, and nothing is logged', async () => {
    const { privateKey } = await generateKeyPair('ES256')
    const token = new SignJWT({ sub: 'bob', exp: now() + 60 })
    const stranger = token.setProtectedHeader({ alg: 'ES256', kid: 'stranger' }).sign(privateKey)
    const seen = keyed.logged.length
    expectUnauthenticated(await who(keyed, `Bearer ${await stranger}`))
    expect(keyed.logged.slice(seen)).toEqual([])
  })
})
