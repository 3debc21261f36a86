import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { cacheVerified } from '../../src/graphql/verified-tokens.ts'
import { registry } from '../../src/metrics/registry.ts'
import { subjectOf } from '../support/services.ts'

const hour = 3_600_000
let verifications = 0
let lifeMs = hour

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'] })
  verifications = 0
  lifeMs = hour
})
afterEach(() => void vi.useRealTimers())

const create = () =>
  cacheVerified(async (token) => {
    verifications++
    if (token.startsWith('bad')) throw new Error('refused')
    return { signedIn: { subject: subjectOf(token) }, expiresAt: Date.now() + lifeMs }
  })

test('a token is verified once a minute, and each token has its own viewer', async () => {
  const verify = create()
  expect((await verify('ann')).subject.sub).toBe('ann')
  vi.setSystemTime(Date.now() + 59_000)
  expect((await verify('ann')).subject.sub).toBe('ann')
  expect(verifications).toBe(1)
  expect((await verify('ben')).subject.sub).toBe('ben')
  expect(verifications).toBe(2)
  vi.setSystemTime(Date.now() + 2_000)
  expect((await verify('ann')).subject.sub).toBe('ann')
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

test('the tokens in memory are bounded, and the oldest ones are verified again', async () => {
  const verify = create()
  const count = 20_000
  for (let n = 0; n < count; n++) await verify(`token${n}`)
  const bytes = /^feedline_cache_bytes\{cache="tokens"\} (\d+)$/m.exec(
    await registry.metrics(),
  )?.[1]
  expect(Number(bytes)).toBeLessThanOrEqual(8 * 1024 ** 2)
  expect(Number(bytes)).toBeGreaterThan(4 * 1024 ** 2)
  await verify(`token${count - 1}`)
  expect(verifications).toBe(count)
  await verify('token0')
  expect(verifications).toBe(count + 1)
})
