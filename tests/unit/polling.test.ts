import fc from 'fast-check'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { pollPause, startPolling } from '../../examples/ui/polling.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** A browser whose user can leave and come back. */
function openBrowser() {
  const listeners = new Set<() => void>()
  let isAway = false
  return {
    listeners,
    attention: {
      isAway: () => isAway,
      subscribe: (listener: () => void) => {
        listeners.add(listener)
        return () => listeners.delete(listener)
      },
    },
    setAway: (away: boolean) => {
      isAway = away
      for (const listener of listeners) listener()
    },
  }
}

/** Polls, and keeps when each poll began. */
function startRecorded(setMs: number | undefined, answer: () => Promise<unknown> = async () => {}) {
  const browser = openBrowser()
  const times: number[] = []
  const poll = () => {
    times.push(Date.now())
    return answer()
  }
  const stop = startPolling(poll, browser.attention, setMs)
  return { ...browser, times, stop }
}

const refuse = async () => {
  throw new Error('no answer')
}

test('a pause that is missing, zero, negative or no number is 15 seconds', async () => {
  for (const setMs of [undefined, 0, -0, -1, Number.NaN, Number.NEGATIVE_INFINITY, Number('x')]) {
    const { times, stop } = startRecorded(setMs)
    await vi.advanceTimersByTimeAsync(60_000)
    expect([setMs, times.length]).toEqual([setMs, 4])
    stop()
  }
})

test('no pause that is set makes polls more frequent than once a second, or a timer overflow', () => {
  const anyNumber = fc.oneof(fc.double(), fc.integer(), fc.constant(Number.POSITIVE_INFINITY))
  fc.assert(
    fc.property(fc.option(anyNumber, { nil: undefined }), fc.nat(5_000), (setMs, failures) => {
      const pause = pollPause(setMs, failures)
      expect(pause).toBeGreaterThanOrEqual(1_000)
      expect(pause).toBeLessThanOrEqual(86_400_000)
    }),
  )
})

test('a pause of 40 days, which overflows a timer, is a day', async () => {
  const { times } = startRecorded(40 * 86_400_000)
  await vi.advanceTimersByTimeAsync(86_400_000 * 2)
  expect(times).toHaveLength(2)
})

test('a poll waits for the end of the last one', async () => {
  const { times } = startRecorded(1_000, () => new Promise((end) => setTimeout(end, 5_000)))
  await vi.advanceTimersByTimeAsync(18_000)
  expect(times).toHaveLength(3)
})

test.each([
  ['rejects', refuse],
  [
    'throws',
    () => {
      throw new Error('at once')
    },
  ],
])(
  'a poll that %s is repeated after longer and longer pauses, to five minutes, and after a success as before',
  async (_, fail) => {
    let answer: () => Promise<unknown> = fail
    const { times } = startRecorded(1_000, () => answer())
    await vi.advanceTimersByTimeAsync(3_600_000)
    const pauses = times.slice(1).map((time, n) => time - (times[n] ?? 0))
    for (const [n, pause] of pauses.entries()) {
      const longest = Math.min(300_000, 1_000 * 2 ** (n + 1))
      expect(pause).toBeLessThanOrEqual(longest + 1)
      expect(pause).toBeGreaterThanOrEqual(longest * 0.75 - 1)
    }
    expect(times.length).toBeLessThan(26)
    answer = async () => {}
    await vi.advanceTimersByTimeAsync(300_000)
    const before = times.length
    await vi.advanceTimersByTimeAsync(10_000)
    expect(times.length - before).toBe(10)
  },
)

test('while the user is away nothing is sent, and the return polls once at once', async () => {
  const { times, setAway } = startRecorded(5_000)
  await vi.advanceTimersByTimeAsync(5_000)
  setAway(true)
  await vi.advanceTimersByTimeAsync(600_000)
  expect(times).toHaveLength(1)
  setAway(false)
  await vi.advanceTimersByTimeAsync(1)
  expect(times).toHaveLength(2)
})

test('a user who leaves during a poll is not polled for', async () => {
  const { times, setAway } = startRecorded(1_000, () => new Promise((end) => setTimeout(end, 500)))
  await vi.advanceTimersByTimeAsync(1_200)
  setAway(true)
  await vi.advanceTimersByTimeAsync(600_000)
  expect(times).toHaveLength(1)
})

test('a network that comes and goes ten times a second causes one poll a second at most, also when polls fail', async () => {
  for (const answer of [async () => {}, refuse]) {
    const { times, setAway, stop } = startRecorded(60_000, answer)
    for (let n = 0; n < 100; n++) {
      setAway(n % 2 === 0)
      await vi.advanceTimersByTimeAsync(100)
    }
    expect(times.length).toBeLessThanOrEqual(10)
    expect(times.length).toBeGreaterThan(5)
    stop()
  }
})

test('what is stopped sends nothing, and listens to nothing', async () => {
  const { times, stop, setAway, listeners } = startRecorded(1_000)
  await vi.advanceTimersByTimeAsync(1_000)
  stop()
  setAway(false)
  await vi.advanceTimersByTimeAsync(60_000)
  expect([times.length, listeners.size]).toEqual([1, 0])
})
