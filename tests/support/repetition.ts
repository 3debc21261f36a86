import { lawSeed } from './services.ts'

/** What this run draws its share with: `FEEDLINE_SEED`, or a number of its own, which it prints. */
const seed = Math.abs(lawSeed().seed ?? Math.floor(Math.random() * 1_000_000))
const isNightly = process.env.FEEDLINE_RUNS !== undefined
if (!isNightly) console.info(`a share of the cases: FEEDLINE_SEED=${seed} draws it again`)

/**
 * One case in `stride`, from a place that the seed draws: successive runs try every case.
 * With `FEEDLINE_RUNS`, as each night, all cases.
 * @param from shifts the place, so that lists drawn with one seed differ.
 */
export const share = <T>(stride: number, cases: readonly T[], from = 0): readonly T[] =>
  isNightly ? cases : cases.filter((_, at) => (at + from + seed) % stride === 0)
