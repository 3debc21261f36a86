import { afterAll } from 'vitest'

/**
 * The monotonic clock of this process can move on, for the current test file. Timers and dates stay
 * as they are.
 * @returns what moves it on by a number of milliseconds.
 */
export function usePassTime(): (ms: number) => void {
  const { now } = performance
  let passedMs = 0
  // Not by a spy of Vitest, which ends with each test: then the time would go back.
  performance.now = () => now.call(performance) + passedMs
  afterAll(() => {
    performance.now = now
  })
  return (ms) => {
    passedMs += ms
  }
}
