import { describe, expect, test } from 'vitest'
import { commandPrice } from '../../src/graphql/prices.ts'
import type { UserId } from '../../src/lib/ids.ts'
import { actFor, byAccount, bySubject, secret, signed } from '../support/act-for.ts'
import { type TestApp, useApp } from '../support/app.ts'
import { recorded } from '../support/mongo.ts'
import { handle, openAccounts } from '../support/services.ts'

const limited = { AUTH_JWT_SECRET: secret, RATE_LIMIT_COST: '20000', RATE_LIMIT_MUTATIONS: '3' }
const stores: Readonly<Record<string, TestApp>> = {
  memory: useApp({ ...limited, RATE_LIMIT_ACTING: '2' }),
  mongodb: useApp({ ...limited, RATE_LIMIT_ACTING: '2', RATE_LIMIT_STORE: 'mongodb' }),
}

// Tokens return while requests last.
describe.each(Object.entries(stores))('rate limits in %s', { retry: 3 }, (_, server) => {
  const users = ['eve', 'fay', 'gus'].map(handle)
  const mute = 'mutation { muteUser(input: {user: {handle: "hal"}}) { changed } }'
  let attempts = 0
  const statuses = async (headers: Readonly<Record<string, string>>, times: number) => {
    const all = []
    for (let n = 0; n < times; n++) all.push((await server.send({ query: mute, headers })).status)
    return all
  }

  test('a server has those of several viewers, each of its users that of one, and users their own', async () => {
    if (attempts++ === 0) await openAccounts(server.services, [...users, handle('hal')])
    const authorization = signed({ sub: `server ${attempts}`, scope: 'act-for' })
    const headersOf = (user: string) => actFor(bySubject(user), authorization)
    expect(await statuses(headersOf('eve'), 4)).toEqual([200, 200, 200, 429])
    expect(await statuses(headersOf('fay'), 3)).toEqual([200, 200, 200])
    const refused = await server.send({ query: mute, headers: headersOf('gus') })
    expect(refused.status).toBe(429)
    expect(refused.errors[0]?.message).toContain('6 mutations per minute for a server')
    expect(refused.headers.get('ratelimit-limit')).toBe('6')
    const other = signed({ sub: `other ${attempts}`, scope: 'act-for' })
    expect(await statuses(actFor(bySubject('eve'), other), 1)).toEqual([200])
    const own = { authorization: signed({ sub: ['eve', 'fay', 'gus'][attempts - 1] }) }
    expect(await statuses(own, 4)).toEqual([200, 200, 200, 429])
  })

  test('more mutations at once than a minute ever has are refused for good', async () => {
    const sub = `batches-${attempts++}`
    const authorization = signed({ sub, scope: 'act-for' })
    const mutes = (count: number) =>
      `mutation { ${Array.from({ length: count }, (_, n) => `m${n}: ${mute.slice(11, -2)}`).join(' ')} }`
    const creates = (count: number) => {
      const users = Array.from({ length: count }, (_, n) => `{subject: "${sub}-${n}", name: "N"}`)
      return `mutation { createUsers(input: {users: [${users}]}) { results { created } } }`
    }
    const own = { authorization: signed({ sub: 'eve' }) }
    for (const [query, headers, limit] of [
      [mutes(4), own, 3],
      [mutes(4), actFor(bySubject('fay'), authorization), 3],
      [creates(7), { authorization }, 6],
    ] as const) {
      const { status, errors, headers: answered } = await server.send({ query, headers })
      const { code, limit: named, retryAfterSeconds } = errors[0]?.extensions ?? {}
      expect([status, code, named]).toEqual([400, 'LIMIT_EXCEEDED', 'mutations'])
      expect(errors[0]?.message).toContain(`the limit of ${limit} per minute`)
      expect([retryAfterSeconds, answered.get('retry-after')]).toEqual([undefined, null])
    }
    // What was refused has created none of them.
    const { data } = await server.send({ query: creates(6), headers: { authorization } })
    expect(data.createUsers.results).toEqual(Array(6).fill({ created: true }))
  })

  test('a server pays for each account that it names, before the account is read', async () => {
    const authorization = signed({ sub: `guesser ${attempts++}`, scope: 'act-for' })
    const spend = {
      query: '{ user(handle: "none") { followers(first: 100) { edges { node { bio } } } } }',
      headers: { authorization },
    }
    for (let n = 0; n < 200 && (await server.send(spend)).status !== 429; n++);
    const guess = async (user: string) => {
      const { errors } = await server.send({ query: '{', headers: actFor(user, authorization) })
      return errors[0]?.extensions.code
    }
    const names = Array.from({ length: 200 }, (_, n) => `none${n}` as UserId)
    const { result: codes, commands } = await recorded(server.database.client, async () => {
      const all = []
      // No server refuses as many requests at once.
      for (let n = 0; n < names.length; n += 50) {
        const some = names.slice(n, n + 50).map((name) => guess(byAccount(name)))
        all.push(...(await Promise.all(some)))
      }
      return all
    })
    expect(codes).toContain('RATE_LIMITED')
    expect(codes.filter((code) => code !== 'NOT_FOUND' && code !== 'RATE_LIMITED')).toEqual([])
    const sent = JSON.stringify(commands.filter(({ collection }) => collection === 'users'))
    const read = names.filter((name) => sent.includes(`"${name}"`))
    expect(read).toEqual(names.filter((_, n) => codes[n] === 'NOT_FOUND'))
  })
})

test('a request by the id of an account costs one command more than one by a subject', async () => {
  const server = stores.mongodb as TestApp
  const ida = handle('ida')
  const authorization = signed({ sub: 'payer', scope: 'act-for' })
  await openAccounts(server.services, [ida])
  const pay = async (user: string) => {
    const { result, commands } = await recorded(server.database.client, () =>
      server.send({ query: '{ viewer { handle } }', headers: actFor(user, authorization) }),
    )
    const taken = commands
      .filter(({ collection }) => collection === 'rate_limits')
      .map(({ command }) => Number(/"\$gte":\["\$cost",(\d+)\]/.exec(JSON.stringify(command))?.[1]))
    const { cost } = result.extensions as { cost: { requested: number } }
    return { taken, requested: cost.requested }
  }
  // The first request creates the bucket, and pays for its document.
  await pay(bySubject('ida'))
  const ofSubject = await pay(bySubject('ida'))
  expect(ofSubject.taken).toEqual([ofSubject.requested])
  expect((await pay(byAccount(ida))).taken).toEqual([commandPrice, ofSubject.requested])
})
