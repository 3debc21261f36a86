import type { Degrees } from './degrees.ts'

/** The load and the hardware that a plan is made for. */
export interface CapacityInputs {
  /** The number of followers of users, in classes. It decides the numbers of users and edges. */
  readonly followers: Degrees
  /** The number of followees of users, in classes. */
  readonly followees: Degrees
  readonly postsPerSecond: number
  /** Pages of 20 posts of a home timeline. */
  readonly readsPerSecond: number
  readonly pollsPerSecond: number
  readonly likesPerSecond: number
  readonly followsPerSecond: number
  /**
   * How an author's share of the posts grows with the number of followers: their power. 0: all post
   * equally often.
   */
  readonly authorBias: number
  /** For how many days posts, likes and timelines have been collected. */
  readonly days: number
  /** The share of users who come so often that `CACHE` keeps their cache, 0 to 1. */
  readonly activeShare: number
  /**
   * The share of pages and polls for which nothing has changed, so that a server answers them from
   * memory, 0 to 1.
   */
  readonly unchangedShare: number
  /** The days for which a stored timeline keeps entries. Infinity: all. */
  readonly entryDays: number
  /** The followers up to which the server that takes a post delivers it. */
  readonly inlineMax: number
  /** The cores of each shard's primary. */
  readonly coresPerShard: number
  /** The disk of each member of a shard, in GB of 10^9 bytes. */
  readonly diskGbPerShard: number
  /** The share of a core, and of a disk, that the load may use, 0 to 1. */
  readonly usableShare: number
}
