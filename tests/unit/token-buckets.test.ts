import { expect, test } from 'vitest'
import { TokenBuckets } from '../../src/lib/token-buckets.ts'

function bucketsAt(perMinute: number) {
  const clock = { ms: 1_000 }
  return { clock, buckets: new TokenBuckets(perMinute, () => clock.ms) }
}

test('a bucket allows the tokens of a minute, then refuses and says when they are there', () => {
  const { buckets } = bucketsAt(60)
  expect(buckets.take('a', 50)).toEqual({
    isAllowed: true,
    remaining: 10,
    fullInMs: 50_000,
    retryInMs: 0,
  })
  expect(buckets.take('a', 25)).toEqual({
    isAllowed: false,
    remaining: 10,
    fullInMs: 50_000,
    retryInMs: 15_000,
  })
  expect(buckets.take('a', 10)).toMatchObject({ isAllowed: true, remaining: 0 })
  expect(buckets.take('b', 60)).toMatchObject({ isAllowed: true })
})

test('a check says what a request would get, and takes nothing', () => {
  const { buckets } = bucketsAt(60)
  expect(buckets.check('a', 61)).toMatchObject({ isAllowed: false, retryInMs: 1_000 })
  expect(buckets.check('a', 50)).toEqual(buckets.take('a', 50))
  expect(buckets.check('a', 11)).toMatchObject({ isAllowed: false, remaining: 10 })
  expect(buckets.check('a', 10)).toEqual(buckets.take('a', 10))
  expect(buckets.size).toBe(1)
})

test('a bucket fills continuously, and never beyond the tokens of a minute', () => {
  const { clock, buckets } = bucketsAt(60)
  buckets.take('a', 60)
  clock.ms += 10_000
  expect(buckets.take('a', 10)).toMatchObject({ isAllowed: true, remaining: 0 })
  clock.ms += 1_000_000
  expect(buckets.take('a', 1)).toMatchObject({ remaining: 59 })
})

test('whatever is taken, no minute allows more than the tokens of two', () => {
  const { clock, buckets } = bucketsAt(100)
  let allowed = 0
  for (let second = 0; second < 60; second++) {
    clock.ms += 1_000
    for (const tokens of [7, 1, 13]) if (buckets.take('a', tokens).isAllowed) allowed += tokens
  }
  expect(allowed).toBeGreaterThan(190)
  expect(allowed).toBeLessThanOrEqual(200)
})

test('the number of buckets is bounded, and the one used longest ago is forgotten', () => {
  const { buckets } = bucketsAt(10)
  for (let n = 0; n < 30_000; n++) buckets.take(`k${n}`, 10)
  expect(buckets.size).toBe(20_000)
  expect(buckets.take('k29999', 1).isAllowed).toBe(false)
  expect(buckets.take('k0', 1).isAllowed).toBe(true)
  for (let n = 0; n < 30_000; n++) buckets.take(`full${n}`, 0)
  expect(buckets.size).toBe(20_000)
})
