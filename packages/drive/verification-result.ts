import type { Difference } from './compare.ts'

/** What a verification compared, and what it found. */
export interface VerificationResult {
  /** The sampled readers, whose timelines under each strategy were compared with FANOUT_ON_READ. */
  readonly readers: number
  readonly strategies: readonly StrategyResult[]
  /** Pollers whose posts were compared with their timeline. */
  pollers: number
  /** Users whose own lists were compared with what was acknowledged to them, and what that was. */
  writers: number
  readonly acknowledged: { posts: number; follows: number; likes: number }
  /** Lists that were longer than a walk. They were compared as far as it. */
  cutLists: number
  /** The number of differences, and the first hundred. */
  differences: number
  readonly sample: Difference[]
  /** The number of lists that were not compared, and the first hundred. */
  unverified: number
  readonly unverifiedSample: UnverifiedList[]
}

/** What was compared of one strategy. */
export interface StrategyResult {
  readonly name: string
  /** Whole timelines that were compared. */
  timelines: number
  /** Their pages, and those of them that FANOUT_ON_READ served: these were compared with themselves. */
  pages: number
  pagesByFanoutOnRead: number
  /** The posts on the other pages. */
  posts: number
}

/** A list that could not be compared. */
export interface UnverifiedList {
  /** The handle of the user. */
  readonly reader: string
  readonly list: string
  readonly reason: string
}

/** The most differences and lists that are named. */
export const shownMax = 100

/** A result to which a verification adds. */
export const emptyResult = (
  readers: number,
  strategies: readonly string[],
): VerificationResult => ({
  readers,
  strategies: strategies.map((name) => ({
    ...{ name, timelines: 0, pages: 0, pagesByFanoutOnRead: 0, posts: 0 },
  })),
  ...{ pollers: 0, writers: 0, acknowledged: { posts: 0, follows: 0, likes: 0 }, cutLists: 0 },
  ...{ differences: 0, sample: [], unverified: 0, unverifiedSample: [] },
})
