/**
 * How long to wait before try `attempt` (1 is the first repeat): full jitter over a doubling, capped ceiling,
 * so that those who collided do not collide again.
 * @see https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/
 */
export function backoffMs(
  attempt: number,
  { baseMs, capMs }: { baseMs: number; capMs: number },
  random: () => number = Math.random,
): number {
  return random() * Math.min(capMs, baseMs * 2 ** Math.min(attempt - 1, 30))
}
