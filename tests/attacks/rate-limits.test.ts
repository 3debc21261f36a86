import { beforeAll, describe, expect, test } from 'vitest'
import { useApp } from '../support/app.ts'
import { labelsOf } from '../support/commands.ts'
import { recorded } from '../support/mongo.ts'
import { handle, openAccounts, subjectOf } from '../support/services.ts'
import { farFuture, secret, signToken } from './attack.ts'

const perViewer = { RATE_LIMIT_COST: '20000', RATE_LIMIT_MUTATIONS: '5', AUTH_JWT_SECRET: secret }
const stores = {
  memory: useApp(perViewer),
  mongodb: useApp({ ...perViewer, RATE_LIMIT_STORE: 'mongodb' }),
}
const crowded = useApp({ ...perViewer, TRUSTED_PROXIES: '127.0.0.1' }, ({ http }) => ({
  http: { ...http, rateLimits: { ...http.rateLimits, viewersPerAddress: 2 } },
}))
const people = ['ann', 'ben', 'cat', 'dan', 'eve'].map(handle)

beforeAll(async () => {
  for (const { services } of [...Object.values(stores), crowded]) {
    await openAccounts(services, people)
  }
})

const claims = { sub: 'ann', exp: farFuture }
const bearer = (token: string, scheme = 'Bearer') => ({ authorization: `${scheme} ${token}` })
const signedIn = (sub: string) => bearer(signToken({ ...claims, sub }))
const mutation = 'mutation { muteUser(input: { user: { handle: "ben"} }) { changed } }'
/** Costs more than half of a minute. */
const costly = `{ user(handle: "ann") { followers(first: 100) { edges { node {
  followers(first: 60) { edges { cursor } } } } } } }`

/** What a viewer may try to be another client. */
const disguises: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'a scheme in lower case': bearer(signToken(claims), 'bearer'),
  'a scheme in upper case': bearer(signToken(claims), 'BEARER'),
  'a token with another jti': bearer(signToken({ ...claims, jti: 'other' })),
  'a token with another expiry': bearer(signToken({ ...claims, exp: farFuture - 1 })),
  'a token with other claims': bearer(signToken({ ...claims, aud: 'x', scope: 'admin', iat: 1 })),
  'a token with another header': bearer(signToken(claims, { alg: 'HS256', kid: 'x', typ: 'JWT' })),
  'another address': { ...signedIn('ann'), 'x-forwarded-for': '198.51.100.7' },
  'another agent': { ...signedIn('ann'), 'user-agent': 'x', cookie: 'session=x' },
}
/** What an anonymous client may try without a trusted proxy. */
const addressHeaders = [
  ...['x-forwarded-for', 'x-real-ip', 'x-client-ip', 'cf-connecting-ip', 'true-client-ip'],
  ...['x-cluster-client-ip', 'fastly-client-ip', 'x-forwarded', 'x-forwarded-host'],
]

describe.each(Object.entries(stores))('rate limits in %s', (store, app) => {
  const commandsOfStore = store === 'memory' ? [] : ['findAndModify rate_limits']

  test('a refused request has its code and headers, and sends no other command than that of its store', async () => {
    const send = () => app.send({ headers: signedIn('cat'), query: mutation })
    for (let n = 0; n < 5; n++) expect(await send()).toMatchObject({ status: 200, errors: [] })
    const { result, commands } = await recorded(app.database.client, send)
    expect(result).toMatchObject({
      status: 429,
      errors: [{ extensions: { code: 'RATE_LIMITED' } }],
    })
    expect(result.data ?? null).toBeNull()
    const header = (name: string) => Number(result.headers.get(name))
    expect(header('ratelimit-limit')).toBe(5)
    expect(header('ratelimit-remaining')).toBe(0)
    expect(header('retry-after')).toBeGreaterThan(0)
    expect(header('retry-after')).toBeLessThanOrEqual(header('ratelimit-reset'))
    expect(labelsOf(commands)).toEqual(commandsOfStore)
  })

  test('a viewer beyond a limit stays refused under each disguise', async () => {
    for (let n = 0; n < 5; n++) await app.send({ headers: signedIn('ann'), query: mutation })
    const statuses: Record<string, number> = {}
    for (const [name, headers] of Object.entries(disguises)) {
      statuses[name] = (await app.send({ headers, query: mutation })).status
    }
    expect(new Set(Object.values(statuses)), JSON.stringify(statuses)).toEqual(new Set([429]))
    expect(await app.send({ headers: signedIn('dan'), query: mutation })).toMatchObject({
      status: 200,
    })
  })

  test('an anonymous client beyond a limit stays refused whatever address its headers name', async () => {
    expect(await app.send({ query: costly })).toMatchObject({ status: 200 })
    for (const name of addressHeaders) {
      const answer = await app.send({ query: costly, headers: { [name]: '198.51.100.9' } })
      expect(answer.status, name).toBe(429)
    }
    const forwarded = { forwarded: 'for=198.51.100.9', 'x-forwarded-for': '::1, 198.51.100.9' }
    expect(await app.send({ query: costly, headers: forwarded })).toMatchObject({ status: 429 })
  })
})

describe('an address with many accounts', () => {
  const send = (sub: string | undefined, address: string, query = mutation) =>
    crowded.send({
      query,
      headers: { ...(sub ? signedIn(sub) : {}), 'x-forwarded-for': address },
    })

  test('has the limits of a number of viewers, and takes nothing from other clients', async () => {
    const use = async (sub: string, times: number) => {
      const statuses = []
      for (let n = 0; n < times; n++) statuses.push((await send(sub, '2001:db8:1:1::1')).status)
      return statuses
    }
    // What a viewer is refused takes nothing from the address.
    expect(await use('ann', 9)).toEqual([200, 200, 200, 200, 200, 429, 429, 429, 429])
    expect(await use('ben', 4)).toEqual([200, 200, 200, 200])
    expect(await use('cat', 2)).toEqual([200, 429])
    await crowded.services.subjects.load(subjectOf('dan'))
    const { result, commands } = await recorded(crowded.database.client, () =>
      send('dan', '2001:0DB8:0001:0001:ffff::2'),
    )
    expect(result).toMatchObject({ status: 429 })
    expect(result.headers.get('ratelimit-limit')).toBe('10')
    expect(Number(result.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(commands).toEqual([])
    // What the address is refused takes nothing from the viewer.
    for (let n = 0; n < 5; n++) {
      expect(await send('dan', '2001:db8:1:2::1')).toMatchObject({ status: 200 })
    }
    const anonymous = await send(undefined, '2001:db8:1:1::1', '{ user(handle: "ann") { name } }')
    expect(anonymous).toMatchObject({ status: 200 })
  })

  test('also has their cost', async () => {
    const statuses = []
    for (const sub of ['ann', 'ben', 'cat', 'dan', 'eve']) {
      statuses.push((await send(sub, '198.51.100.20', costly)).status)
    }
    expect(statuses).toContain(200)
    expect(statuses.at(-1)).toBe(429)
    expect(await send('eve', '198.51.100.21', costly)).toMatchObject({ status: 200 })
  })
})
