/**
 * The time to wait before a repeat, in milliseconds: full jitter under a doubling, capped ceiling.
 * @param attempt 1 for the first repeat.
 * @see https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/
 */
export function backoffMs(
  attempt: number,
  { baseMs, capMs }: { baseMs: number; capMs: number },
  random: () => number = Math.random,
): number {
  return random() * Math.min(capMs, baseMs * 2 ** Math.min(attempt - 1, 30))
}
