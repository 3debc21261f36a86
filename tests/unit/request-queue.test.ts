import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { ConcurrencyLimit } from '../../src/http/concurrency-limit.ts'
import { RequestQueue } from '../../src/http/request-queue.ts'

const bounds = { runningMax: 1, waitingMax: 100, expectedWaitMsMax: 500, waitMsMax: 2_000 }

/** Enters the queue for a client that does not leave. */
function enter(queue: RequestQueue) {
  const admitted = queue.enter()
  const request = {
    isRunning: false,
    isRefused: admitted === undefined,
    leave: () => admitted && queue.leave(admitted),
  }
  void admitted?.turn.then((isTurn) => {
    request.isRunning = isTurn
    request.isRefused = !isTurn
  })
  return request
}

describe('a queue of requests', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] }))
  afterEach(() => void vi.useRealTimers())

  /**
   * Serves one request at a time, each in `ms`, while new requests keep `waiting` requests in the
   * queue.
   */
  async function serve(queue: RequestQueue, { ms, turns, waiting }: Record<string, number>) {
    const requests = [enter(queue)]
    for (let turn = 0; turn < (turns ?? 0); turn++) {
      while (requests.length <= (waiting ?? 0)) requests.push(enter(queue))
      await vi.advanceTimersByTimeAsync(ms ?? 0)
      requests.shift()?.leave()
    }
    await vi.advanceTimersByTimeAsync(0)
    return requests
  }

  test('a request is refused on arrival if the requests before it take longer than the expected wait', async () => {
    const queue = new RequestQueue(bounds, { current: 1 })
    await serve(queue, { ms: 100, turns: 5, waiting: 6 })
    expect(queue.isFull).toBe(false)
    const last = enter(queue)
    await vi.advanceTimersByTimeAsync(0)
    expect([last.isRefused, queue.isFull]).toEqual([false, true])
    const refused = enter(queue)
    await vi.advanceTimersByTimeAsync(0)
    expect(refused.isRefused).toBe(true)
  })

  test('a burst waits whatever the last burst took, because the queue has been empty', async () => {
    const queue = new RequestQueue(bounds, { current: 1 })
    for (const request of await serve(queue, { ms: 100, turns: 5, waiting: 4 })) {
      await vi.advanceTimersByTimeAsync(100)
      request.leave()
    }
    const burst = Array.from({ length: 101 }, () => enter(queue))
    await vi.advanceTimersByTimeAsync(0)
    expect(burst.filter(({ isRefused }) => isRefused)).toEqual([])
    expect(queue.isFull).toBe(true)
  })

  test('as many requests as may ever run are admitted, however slow they are and however few run', async () => {
    const queue = new RequestQueue(
      { ...bounds, runningMax: 8, expectedWaitMsMax: 100 },
      { current: 1 },
    )
    const requests = await serve(queue, { ms: 200, turns: 5, waiting: 7 })
    requests.push(enter(queue))
    expect(requests).toHaveLength(8)
    expect(requests.filter(({ isRefused }) => isRefused)).toEqual([])
    expect(enter(queue).isRefused).toBe(true)
  })

  test('a request that waits longer than the bound is refused, and one that leaves gives up its place', async () => {
    const queue = new RequestQueue({ ...bounds, waitingMax: 2 }, { current: 1 })
    const [first, second, third] = [enter(queue), enter(queue), enter(queue)]
    expect(enter(queue).isRefused).toBe(true)
    third.leave()
    third.leave()
    const fourth = enter(queue)
    expect([fourth.isRefused, queue.isFull]).toEqual([false, true])
    await vi.advanceTimersByTimeAsync(2_000)
    expect([first, second, third, fourth].map(({ isRefused }) => isRefused)).toEqual([
      false,
      true,
      true,
      true,
    ])
    first.leave()
    first.leave()
    const fifth = enter(queue)
    await vi.advanceTimersByTimeAsync(0)
    expect([fifth.isRunning, queue.isFull]).toEqual([true, false])
  })

  test('a limit that falls starts no request until fewer run, and a limit that rises starts several', async () => {
    const limit = { current: 3 }
    const queue = new RequestQueue(bounds, limit)
    const requests = Array.from({ length: 7 }, () => enter(queue))
    const running = () => requests.filter(({ isRunning }) => isRunning).length
    await vi.advanceTimersByTimeAsync(0)
    expect(running()).toBe(3)
    limit.current = 1
    for (const at of [0, 1]) requests[at]?.leave()
    await vi.advanceTimersByTimeAsync(0)
    expect(running()).toBe(3)
    limit.current = 3
    requests[2]?.leave()
    await vi.advanceTimersByTimeAsync(0)
    expect(running()).toBe(6)
  })
})

describe('the limit of running requests', () => {
  /** The limit after `times` equal intervals. */
  const adjusted = (
    limit: ConcurrencyLimit,
    utilization: number,
    times: number,
    isReached = true,
  ) => {
    for (let time = 0; time < times; time++) limit.adjust(utilization, isReached)
    return limit.current
  }

  test('it falls to sixteen while the event loop has no idle time, and rises to its maximum while it has', () => {
    const limit = new ConcurrencyLimit(100)
    expect(limit.current).toBe(100)
    expect(adjusted(limit, 1, 1)).toBe(70)
    expect(adjusted(limit, 1, 50)).toBe(16)
    expect(adjusted(limit, 0.9, 10)).toBe(26)
    expect(adjusted(limit, 0.9, 200)).toBe(100)
  })

  test('it does not rise while fewer requests run, and never passes its maximum', () => {
    const limit = new ConcurrencyLimit(20)
    expect(adjusted(limit, 1, 50)).toBe(16)
    expect(adjusted(limit, 0.5, 50, false)).toBe(16)
    expect(adjusted(limit, 0.5, 50)).toBe(20)
    expect(adjusted(new ConcurrencyLimit(2), 1, 50)).toBe(2)
  })
})
