import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { cacheVerified } from '../../src/graphql/verified-tokens.ts'
import { registry } from '../../src/metrics/registry.ts'
import type { SignedIn } from '../../src/users/subject.ts'

const hour = 3_600_000
let verifications = 0
let lifeMs = hour

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'] })
  verifications = 0
  lifeMs = hour
})
afterEach(() => void vi.useRealTimers())

const issuer = 'https://id.example'
const signedIn = (sub: string): SignedIn => ({
  subject: { issuer, sub, isMain: false },
  roles: new Set(),
  scopes: new Set(),
})

const createVerify = (says = signedIn) =>
  cacheVerified(async (token) => {
    verifications++
    if (token.startsWith('bad')) throw new Error('refused')
    return { signedIn: says(token), expiresAt: Date.now() + lifeMs }
  })

/** As {@link createVerify}, and answers the subject alone. */
function create() {
  const verify = createVerify()
  return async (token: string) => (await verify(token)).subject.sub
}

test('a token is verified once a minute, and each token has its own viewer', async () => {
  const verify = create()
  expect(await verify('ann')).toBe('ann')
  vi.setSystemTime(Date.now() + 59_000)
  expect(await verify('ann')).toBe('ann')
  expect(verifications).toBe(1)
  expect(await verify('ben')).toBe('ben')
  expect(verifications).toBe(2)
  vi.setSystemTime(Date.now() + 2_000)
  expect(await verify('ann')).toBe('ann')
  expect(verifications).toBe(3)
})

test('a token is verified again from its expiry on', async () => {
  const verify = create()
  lifeMs = 3_000
  await verify('ann')
  vi.setSystemTime(Date.now() + 2_999)
  await verify('ann')
  expect(verifications).toBe(1)
  vi.setSystemTime(Date.now() + 1)
  await verify('ann')
  expect(verifications).toBe(2)
})

test('a token is verified again after the clock was set back', async () => {
  const verify = create()
  await verify('ann')
  vi.setSystemTime(Date.now() - hour)
  await verify('ann')
  expect(verifications).toBe(2)
})

test('a refusal is not kept', async () => {
  const verify = create()
  for (const _ of [1, 2]) await expect(verify('bad')).rejects.toThrow('refused')
  expect(verifications).toBe(2)
})

async function cachedBytes(): Promise<number> {
  const metrics = await registry.metrics()
  return Number(/^feedline_cache_bytes\{cache="tokens"\} (\d+)$/m.exec(metrics)?.[1])
}

const bytesMax = 8 * 1024 ** 2

test('the tokens in memory are bounded, and the oldest ones are verified again', async () => {
  const verify = create()
  const count = 20_000
  for (let n = 0; n < count; n++) await verify(`token${n}`)
  expect(await cachedBytes()).toBeLessThanOrEqual(bytesMax)
  expect(await cachedBytes()).toBeGreaterThan(bytesMax / 2)
  await verify(`token${count - 1}`)
  expect(verifications).toBe(count)
  await verify('token0')
  expect(verifications).toBe(count + 1)
})

test('the bound of tokens in memory counts long subjects and issuers, roles and scopes', async () => {
  const text = 'x'.repeat(255)
  const verify = createVerify(() => ({
    subject: { issuer: text, sub: text, isMain: false },
    roles: new Set(['ADMIN', 'MODERATOR']),
    scopes: new Set(['act-for']),
  }))
  const [count, tokenBytes] = [1_000, 4 * 255 + 1_024]
  for (let n = 0; n < count; n++) await verify(`token${n}`)
  expect(await cachedBytes()).toBeGreaterThanOrEqual(count * tokenBytes)
  for (let n = count; n < bytesMax / tokenBytes + 1; n++) await verify(`token${n}`)
  expect(await cachedBytes()).toBeLessThanOrEqual(bytesMax)
  const before = verifications
  await verify('token0')
  expect(verifications).toBe(before + 1)
})
