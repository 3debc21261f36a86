import type { Edges } from '../follows/edges.ts'

/** Two users: the first follows, followed or may follow the second. */
export interface Pair {
  readonly follower: string
  readonly followee: string
}

/** The name of a pair in findings. Unique, because no handle contains `>`. */
export const nameOf = ({ follower, followee }: Pair): string => `${follower}>${followee}`

/**
 * The two collections that hold each edge. `following` is undefined under `reverse-index`, which has one collection.
 */
export function edgeCollections({ followers, following }: Edges) {
  const second = following.collection !== followers.collection
  return {
    followers: followers.collection,
    following: second ? following.collection : undefined,
  }
}
