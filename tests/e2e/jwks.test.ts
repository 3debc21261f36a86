import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose'
import { afterAll, afterEach, describe, expect, test, vi } from 'vitest'
import { type TestApp, useApp } from '../support/app.ts'
import { eventually } from '../support/eventually.ts'
import { usePassTime } from '../support/pass-time.ts'
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

/** Fetches keys for tokens alone, while the tests run. */
const keyed = useApp({ AUTH_JWKS_URL: `${keyHost}/keys`, AUTH_KEYS_SECONDS: '3600' })
const sickly = useApp({ AUTH_JWKS_URL: `${keyHost}/sick` })
const keyless = useApp({ AUTH_JWKS_URL: 'http://127.0.0.1:9/keys' })

const passTime = usePassTime()

describe('keys at a URL', () => {
  const key = async (kid: string) => {
    const { privateKey, publicKey } = await generateKeyPair('ES256', { extractable: true })
    published.push({ ...(await exportJWK(publicKey)), kid, alg: 'ES256' })
    return (sub: string, seconds = 60, claims: object = {}) =>
      new SignJWT({ sub, exp: now() + seconds, ...claims })
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

  test('changed keys are fetched for a token of an unknown key, but once in 30 s at most', async () => {
    const old = await key('old')
    passTime(31_000)
    const token = await old('bob', 600)
    expect((await who(keyed, `Bearer ${token}`)).data.viewer).toEqual(viewerOf('bob'))
    published.length = 0
    const changed = await key('changed')
    const before = fetches
    for (let n = 0; n < 3; n++) {
      expectUnauthenticated(await who(keyed, `Bearer ${await changed('bob')}`))
    }
    expect(fetches).toBe(before)
    expect((await who(keyed, `Bearer ${token}`)).data.viewer).toEqual(viewerOf('bob'))
    passTime(31_000)
    expect((await who(keyed, `Bearer ${await changed('bob')}`)).data.viewer).toEqual(
      viewerOf('bob'),
    )
    expect(fetches).toBe(before + 1)
    expectUnauthenticated(await who(keyed, `Bearer ${await old('bob')}`))
    // It was verified before, by a key that is withdrawn now.
    expectUnauthenticated(await who(keyed, `Bearer ${token}`))
  })

  test('a key that replaces another one under the same name verifies its tokens at once', async () => {
    await key('same')
    const [replaced] = published.splice(-1)
    const sign = await key('same')
    published.push({ ...replaced, kid: 'other' })
    passTime(31_000)
    expect((await who(keyed, `Bearer ${await sign('bob')}`)).data.viewer).toEqual(viewerOf('bob'))
    published.pop()
    published.pop()
    const next = await key('same')
    passTime(31_000)
    expect((await who(keyed, `Bearer ${await next('bob')}`)).data.viewer).toEqual(viewerOf('bob'))
    expectUnauthenticated(await who(keyed, `Bearer ${await sign('bob')}`))
  })

  test('a token that was accepted is refused after it has expired', async () => {
    const sign = await key('expiring')
    passTime(31_000)
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() })
    const token = await sign('bob', 30)
    expect((await who(keyed, `Bearer ${token}`)).data.viewer).toEqual(viewerOf('bob'))
    vi.setSystemTime(Date.now() + 36_000)
    const refused = await who(keyed, `Bearer ${token}`)
    expectUnauthenticated(refused)
    expect(refused.errors[0]?.message).toBe('Authorization: the token has expired')
  })

  const faults: Readonly<Record<string, [app: TestApp, answer: typeof sick, problem: string]>> = {
    'are out of reach': [keyless, sick, 'cannot be reached'],
    'come with a status of 500': [sickly, { status: 500, body: '{"keys":[]}' }, 'status 500'],
    'are elsewhere': [sickly, { status: 302, body: '' }, 'set the URL that it leads to'],
    'are no JSON': [sickly, { status: 200, body: '<html>' }, 'something else than JSON'],
    'are no keys': [sickly, { status: 200, body: '{"error":"later"}' }, 'than a set of keys'],
  }
  test.each(Object.entries(faults))(
    'a key set that %s answers UNAVAILABLE, and the log names the source and the problem',
    async (_, [app, answer, problem]) => {
      const sign = await key('unseen')
      sick = answer
      passTime(31_000)
      const { status, headers, errors } = await who(app, `Bearer ${await sign('bob')}`)
      expect([status, errors[0]?.extensions.code]).toEqual([503, 'UNAVAILABLE'])
      expect([headers.get('www-authenticate'), headers.get('retry-after')]).toEqual([null, '1'])
      expect(errors[0]?.message).toBe('The keys that verify tokens are unreachable')
      await eventually(() =>
        expect(app.logged.map((line) => JSON.parse(line))).toContainEqual(
          expect.objectContaining({
            ...{ level: 50, keys: 'AUTH_JWKS_URL', problem: expect.stringContaining(problem) },
            msg: 'published keys cannot be fetched; their tokens are refused',
          }),
        ),
      )
    },
  )

  test('without AUTH_ISSUER keys at a URL verify no token with iss, because issuers may share them', async () => {
    const sign = await key('shared')
    passTime(31_000)
    expect((await who(keyed, `Bearer ${await sign('bob')}`)).data.viewer).toEqual(viewerOf('bob'))
    for (const iss of ['https://id.example', '', null]) {
      const refused = await who(keyed, `Bearer ${await sign('bob', 60, { iss })}`)
      expectUnauthenticated(refused)
      expect(refused.errors[0]?.message).toContain('must have none without AUTH_ISSUER')
    }
  })

  test('a token of a key outside the key set is refused, and the log has the name of the key alone', async () => {
    const { privateKey } = await generateKeyPair('ES256')
    const token = await new SignJWT({ sub: 'bob', exp: now() + 60 })
      .setProtectedHeader({ alg: 'ES256', kid: 'stranger' })
      .sign(privateKey)
    passTime(61_000)
    const seen = keyed.logged.length
    expectUnauthenticated(await who(keyed, `Bearer ${token}`))
    const [line = '', ...more] = keyed.logged.slice(seen)
    expect(more).toEqual([])
    expect(line).toContain('stranger')
    for (const part of token.split('.')) expect(line).not.toContain(part)
  })
})
