/**
 * Measures the time from now on, for what must not happen too late. Where the clocks of this host
 * differ, the longer time counts: the monotonic clock stands still while the host is suspended, and
 * the wall clock may be set back.
 * @returns the time since the call, in milliseconds.
 */
export function stopwatch(): () => number {
  const [monotonicMs, wallMs] = [performance.now(), Date.now()]
  return () => Math.max(performance.now() - monotonicMs, Date.now() - wallMs)
}
