import { createHash } from 'node:crypto'

/**
 * How long {@link measureSlowness} takes on a quiet machine of the kind that the limits of the
 * tests are made for.
 */
const quietMs = 150
/** At least 3, because a machine that is quiet when a run begins may become busy. */
const [slownessMin, slownessMax] = [3, 20]

/**
 * How many times slower this machine is now than a quiet one, from 3 to 20. Other busy processes
 * count, because the time for a fixed amount of work is measured.
 */
export function measureSlowness(): number {
  const begun = performance.now()
  let digest = Buffer.alloc(64)
  for (let round = 0; round < 60_000; round++) {
    digest = createHash('sha256').update(digest).digest()
  }
  return Math.min(slownessMax, Math.max(slownessMin, (performance.now() - begun) / quietMs))
}

/**
 * A limit or a pause of a test, longer on a slow or busy machine, as `vitest.config.ts` measured it
 * when the run began. A limit only ends a test that hangs: no test asserts how long something
 * takes.
 * @param quiet enough on a quiet machine, in any unit.
 */
export const patient = (quiet: number): number =>
  Math.ceil(quiet * Number(process.env.FEEDLINE_SLOWNESS ?? 1))
