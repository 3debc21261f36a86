import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { everyMinute } from '../../src/lib/every-minute.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

test('work of every minute goes on after a failure, and ends with stop', async () => {
  const errors: unknown[] = []
  let runs = 0
  const work = async () => {
    runs++
    if (runs === 2) throw new Error('the second fails')
  }
  const repeated = everyMinute(work, (error) => errors.push(error))
  await vi.advanceTimersByTimeAsync(180_000)
  await repeated.stop()
  await vi.advanceTimersByTimeAsync(180_000)
  expect(runs).toBe(3)
  expect(errors).toEqual([new Error('the second fails')])
})

test('work of every minute is left out while it runs, and stop waits for it', async () => {
  const ends: (() => void)[] = []
  const repeated = everyMinute(
    () => new Promise((end) => ends.push(end)),
    () => {},
  )
  await vi.advanceTimersByTimeAsync(180_000)
  expect(ends).toHaveLength(1)
  ends[0]?.()
  await vi.advanceTimersByTimeAsync(180_000)
  expect(ends).toHaveLength(2)
  let isStopped = false
  const stopped = repeated.stop().then(() => {
    isStopped = true
  })
  await vi.advanceTimersByTimeAsync(180_000)
  expect(isStopped).toBe(false)
  ends[1]?.()
  await stopped
  expect(ends).toHaveLength(2)
})
