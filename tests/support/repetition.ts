import { inject } from 'vitest'
import type { FollowingMode } from '../../src/config.ts'

const isNightly = process.env.FEEDLINE_RUNS !== undefined

/** The two ways to store edges: one of them by day. @param from differs between files, so that a run tries both. */
export const sampledFollowing = (from: 0 | 1): readonly FollowingMode[] =>
  share(2, ['collection', 'reverse-index'], from)

/**
 * Every `stride`-th case, from a start that the seed decides, so that successive runs try every case.
 * With `FEEDLINE_RUNS`, as in the nightly run, all cases.
 * @param from shifts the start, so that the shares of several lists differ.
 */
export const share = <T>(stride: number, cases: readonly T[], from = 0): readonly T[] =>
  isNightly ? cases : cases.filter((_, at) => (at + from + inject('shareSeed')) % stride === 0)
