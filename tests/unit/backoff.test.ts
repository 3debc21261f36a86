import { expect, test } from 'vitest'
import { backoffMs } from '../../src/lib/backoff.ts'

const limits = { baseMs: 10, capMs: 100 }
const most = () => 1

test('the ceiling of a back-off doubles from the base to the cap', () => {
  const ceilings = [1, 2, 3, 4, 5, 6].map((attempt) => backoffMs(attempt, limits, most))
  expect(ceilings).toEqual([10, 20, 40, 80, 100, 100])
})

test('a back-off is a random time below its ceiling', () => {
  expect(backoffMs(3, limits, () => 0)).toBe(0)
  expect(backoffMs(3, limits, () => 0.5)).toBe(20)
})

test('a back-off never exceeds its cap, after any number of attempts', () => {
  expect(backoffMs(10_000, limits, most)).toBe(100)
})
