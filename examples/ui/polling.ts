/** The pause between polls where none is set, in milliseconds, and the bounds of what is set. */
const [defaultMs, leastMs, longestMs] = [15_000, 1_000, 86_400_000]
/** The longest pause after failures, unless a longer one is set. */
const failingMsMax = 300_000

/**
 * The pause after a poll, in milliseconds.
 * @param setMs what is set: from a second to a day, as timers end at once after more than 24 days. Default, and for NaN,
 *   0 and less: 15 seconds.
 * @param failures how many polls in a row have failed. Each doubles the pause, to at most five minutes.
 */
export function pollPause(setMs: number | undefined, failures: number): number {
  const isSet = setMs !== undefined && setMs > 0
  const pauseMs = Math.min(longestMs, Math.max(leastMs, isSet ? setMs : defaultMs))
  const failingMs = Math.min(failingMsMax, pauseMs * 2 ** failures) * (1 - Math.random() / 4)
  return failures === 0 ? pauseMs : Math.max(pauseMs, failingMs)
}

/** Whether anyone looks at the app and it has a network. */
export interface Attention {
  readonly isAway: () => boolean
  /** Calls `listener` after each change, until the result is called. */
  readonly subscribe: (listener: () => void) => () => void
}

/**
 * Calls `poll` again and again, each time a pause after the last call has ended. While the user is away, it waits, and then
 * calls at once. Two calls never begin within a second.
 * @returns what ends it.
 */
export function startPolling(
  poll: () => Promise<unknown>,
  { isAway, subscribe }: Attention,
  setMs?: number,
): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined
  let startedAt = Number.NEGATIVE_INFINITY
  let failures = 0
  let isRunning = false
  let isOver = false
  const wait = (pauseMs: number) => {
    clearTimeout(timer)
    if (!isOver && !isAway()) timer = setTimeout(run, pauseMs)
  }
  const run = async () => {
    startedAt = performance.now()
    isRunning = true
    try {
      await poll()
      failures = 0
    } catch {
      failures++
    }
    isRunning = false
    wait(pollPause(setMs, failures))
  }
  const unsubscribe = subscribe(() => {
    if (!isRunning) wait(Math.max(0, startedAt + leastMs - performance.now()))
  })
  wait(pollPause(setMs, failures))
  return () => {
    isOver = true
    clearTimeout(timer)
    unsubscribe()
  }
}
