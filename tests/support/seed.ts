/** The number of histories of a law test: `FEEDLINE_RUNS`, or the number of a normal run. */
export const lawRuns = (standard: number): number => Number(process.env.FEEDLINE_RUNS ?? standard)

/** The seed that replays a failure: `FEEDLINE_SEED`, as printed by fast-check. */
export const lawSeed = (): { seed?: number } =>
  process.env.FEEDLINE_SEED ? { seed: Number(process.env.FEEDLINE_SEED) } : {}

/** The time limit of a test that tries a share of its cases by day, and all of them at night. */
export const timeOfCases = (dayMs: number): number =>
  process.env.FEEDLINE_RUNS ? dayMs * 5 : dayMs
