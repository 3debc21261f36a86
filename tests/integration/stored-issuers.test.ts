import { beforeEach, expect, test } from 'vitest'
import { readConfig } from '../../src/environment.ts'
import type { UserId } from '../../src/lib/ids.ts'
import { findStoredIssuers, issuerWarnings } from '../../src/users/issuers.ts'
import type { Subject } from '../../src/users/subject.ts'
import { labelsOf } from '../support/commands.ts'
import { recorded } from '../support/mongo.ts'
import { drain, useServices } from '../support/services.ts'
import { verified } from '../support/verify.ts'

const harness = useServices()
const secret = 's'.repeat(32)
const [former, present] = ['http://id.example', 'https://id.example']

beforeEach(() => harness.database.collections.subjects.deleteMany({}))

const store = (...issuers: readonly string[]) =>
  harness.database.collections.subjects.insertMany(
    issuers.flatMap((issuer) =>
      ['ann', 'ben b'].map((sub) => ({ _id: `${issuer} ${sub}`, account: 'a' })),
    ),
  )

const warningsOf = (env: Readonly<Record<string, string>>) =>
  issuerWarnings(harness.database.collections, readConfig({ MONGODB_URI: 'embedded', ...env }).auth)
const warningOf = async (env: Readonly<Record<string, string>>) => {
  const [warning, ...more] = await warningsOf(env)
  expect(more).toEqual([])
  return warning
}

test('each stored issuer is found by one read of a key, however many subjects it has', async () => {
  const issuers = ['', '!', 'a', 'a!', 'ab', 'https://a', 'https://a/', 'https://a/b', 'é', '😀']
  await store(...issuers)
  const seen = await recorded(harness.database.client, () =>
    findStoredIssuers(harness.database.collections),
  )
  expect(seen.result).toEqual(issuers)
  expect(labelsOf(seen.commands)).toEqual(Array(issuers.length + 1).fill('read subjects'))
})

test('keys without a space are passed over, and at most 50 issuers are read', async () => {
  await harness.database.collections.subjects.insertMany(
    ['', 'malformed', 'z'].map((_id) => ({ _id, account: 'a' })),
  )
  await store('n', ...Array.from({ length: 60 }, (_, n) => `x${n}`))
  const found = await findStoredIssuers(harness.database.collections)
  expect(found[0]).toBe('n')
  expect(found).toHaveLength(48)
})

test('a start warns of accounts of issuers that no variable names, and of no others', async () => {
  const main = { AUTH_JWT_SECRET: secret }
  const listed = (entry: object) => JSON.stringify([{ issuer: 'x', secret, ...entry }])
  expect(await warningOf(main)).toBeUndefined()
  await store('', former)
  const problem = /^The database has accounts of "http:\/\/id.example", which no variable names/
  expect(await warningOf(main)).toMatch(problem)
  expect(await warningOf(main)).toMatch(/AUTH_FORMER_ISSUERS/)
  expect(await warningOf({ ...main, AUTH_ISSUER: present })).toMatch(problem)
  expect(await warningOf({ ...main, AUTH_ISSUER: former })).toBeUndefined()
  const renamed = { ...main, AUTH_ISSUER: present, AUTH_FORMER_ISSUERS: former }
  expect(await warningOf(renamed)).toBeUndefined()
  expect(await warningOf({ ...main, AUTH_ISSUERS: listed({ issuer: former }) })).toBeUndefined()
  const formerly = { ...main, AUTH_ISSUERS: listed({ formerIssuers: [former] }) }
  expect(await warningOf(formerly)).toBeUndefined()
  const production = { NODE_ENV: 'production', AUTH_ISSUERS: listed({}) }
  expect(await warningOf(production)).toMatch(/accounts of no issuer, "http:/)
  await store(...'abcdef')
  expect(await warningOf(main)).toMatch(/"a", "b", "c", "d", "e" and 2 more/)
})

test('a start warns of keys at a URL without AUTH_ISSUER, which verify no token with iss', async () => {
  const keys = { AUTH_JWKS_URL: 'https://id.example/keys' }
  const AUTH_ISSUERS = JSON.stringify([{ issuer: former, jwksUrl: keys.AUTH_JWKS_URL }])
  const problem = /^AUTH_JWKS_URL verifies no token with "iss" without AUTH_ISSUER/
  for (const env of [keys, { ...keys, AUTH_ISSUERS }]) expect(await warningOf(env)).toMatch(problem)
  const { AUTH_JWKS_URL: _, ...others } = { ...keys, AUTH_ISSUERS }
  for (const env of [{}, { ...keys, AUTH_ISSUER: present }, { AUTH_JWT_SECRET: secret }, others])
    expect(await warningOf(env)).toBeUndefined()
  await store(former)
  expect(await warningsOf(keys)).toEqual([
    expect.stringMatching(problem),
    expect.stringContaining(`"${former}", which no variable names`),
  ])
})

test('subjects that are only held, or whose accounts are deleted, count for no stored issuer', async () => {
  const until = new Date(harness.clock.now())
  await harness.database.collections.subjects.insertMany(
    ['', former].map((issuer) => ({ _id: `${issuer} ann`, account: '~', until })),
  )
  expect(await findStoredIssuers(harness.database.collections)).toEqual([])
  await harness.database.collections.subjects.insertOne({ _id: `${former} ben`, account: 'a' })
  expect(await findStoredIssuers(harness.database.collections)).toEqual([former])
})

/** As servers with AUTH_FORMER_ISSUERS, and as those with one text alone. */
const [both, one]: readonly Omit<Subject, 'sub'>[] = [
  { issuer: former, otherTexts: [present], isMain: true },
  { issuer: present, isMain: true },
]
let names = 0
const register = async (issuer: Omit<Subject, 'sub'> | undefined, sub: string) => {
  const subject = { ...(issuer as Omit<Subject, 'sub'>), sub }
  const profile = { name: 'N', handle: `held-${names++}` as never }
  return (await harness.services.users.register(subject, profile))?.id as UserId
}

test('a new account holds the other texts of its issuer for an hour, and verify takes them for no damage', async () => {
  const account = await register(both, 'ann')
  // No token helps: those with the other text are refused, or are of the same subject.
  const message = expect.stringContaining('which this server does not know')
  const refusal = { code: 'CONFLICT', message }
  await expect(register(one, 'ann')).rejects.toMatchObject(refusal)
  await expect(register({ issuer: '', isMain: true }, 'ann')).rejects.toMatchObject(refusal)
  expect((await verified(harness.services)).differences).toEqual([])
  harness.clock.advance(3_590_000)
  await expect(register(one, 'ann')).rejects.toMatchObject(refusal)
  await expect(register(both, 'ann')).rejects.toMatchObject({ code: 'CONFLICT' })
  harness.clock.advance(20_000)
  // The other text alone is another issuer then.
  expect(await register(one, 'ann')).not.toBe(account)
  const subject = { ...(both as Omit<Subject, 'sub'>), sub: 'ann' }
  expect(await harness.services.subjects.find(subject)).toBe(account)
})

test('who deletes an account may open another one a minute later, though its other texts are held', async () => {
  const account = await register(both, 'ben')
  await harness.services.users.delete(account)
  harness.clock.advance(60_000)
  await drain(harness.services)
  harness.clock.advance(61_000)
  // The jobs of a deletion may take longer than an hour of this clock.
  await harness.database.collections.subjects.updateOne(
    { _id: `${present} ben` },
    { $set: { account: '~', until: new Date(harness.clock.now() + 60_000) } },
    { upsert: true },
  )
  await expect(register(one, 'ben')).rejects.toMatchObject({ code: 'CONFLICT' })
  expect(await register(both, 'ben')).not.toBe(account)
})
