/** How long a job may hold its worker while other jobs wait, in milliseconds. */
const timeSliceMs = 5_000
/** The same for a range job. Ranges of all split jobs share one slot of a worker. */
export const rangeSliceMs = 1_000

/**
 * Starts a time slice. @returns a function that says whether it has ended, and the job yields to
 * others.
 */
export function timeSlice(ms = timeSliceMs): () => boolean {
  const until = performance.now() + ms
  return () => performance.now() >= until
}
