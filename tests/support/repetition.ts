import type { FollowingMode } from '../../src/config.ts'
import { lawSeed, size } from './seed.ts'

/** How many times fewer cases `npm test` tries than `npm run test:all`. */
const smaller = 4

/**
 * The two ways to store edges: one of them by day. @param from differs between files, so that a run
 * tries both.
 */
export const sampledFollowing = (from: 0 | 1): readonly FollowingMode[] =>
  share(2, ['collection', 'reverse-index'], from)

/**
 * Every `stride`-th case, from a start that the seed decides, so that successive runs try every
 * case. `npm test` tries a quarter of them, but not fewer than one. With a number in
 * `FEEDLINE_RUNS`, as in the nightly run, all cases.
 * @param from shifts the start, so that the shares of several lists differ.
 */
export const share = <T>(stride: number, cases: readonly T[], from = 0): readonly T[] => {
  if (size === 'night') return cases
  const step =
    size === 'small' ? Math.max(stride, Math.min(cases.length, stride * smaller)) : stride
  return cases.filter((_, at) => (at + from + lawSeed().seed) % step === 0)
}
