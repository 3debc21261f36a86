import { patient } from './patience.ts'

/**
 * How much a run tries, by `FEEDLINE_RUNS`: little without it, as `npm test` does, more if it is
 * `standard`, as `npm run test:all` does, and all that there is if it is a number of histories, as
 * at night.
 */
export const size: 'small' | 'standard' | 'night' =
  process.env.FEEDLINE_RUNS === undefined
    ? 'small'
    : process.env.FEEDLINE_RUNS === 'standard'
      ? 'standard'
      : 'night'

/**
 * The number of histories of a law test. @param standard of `npm run test:all`. `npm test` tries a
 * third as many.
 */
export const lawRuns = (standard: number): number =>
  ({
    small: Math.ceil(standard / 3),
    standard,
    night: Math.max(standard, Number(process.env.FEEDLINE_RUNS)),
  })[size]

/**
 * The seed of a run: of its random histories, and of the shares of cases that it tries.
 * `FEEDLINE_SEED`, or a random number of `vitest.config.ts`. With the `FEEDLINE_RUNS` of the run,
 * it replays a failure.
 */
export const lawSeed = (): { readonly seed: number } => ({
  seed: Number(process.env.FEEDLINE_SEED),
})

/**
 * The time limit of a test that tries a share of its cases by day, and all of them at night.
 * @param dayMs enough by day on a quiet machine, in milliseconds.
 */
export const timeOfCases = (dayMs: number): number => patient(size === 'night' ? dayMs * 5 : dayMs)
