import { groupBy } from '../lib/batch.ts'
import type { UserId } from '../lib/ids.ts'

/** A follower and a followee, with or without an edge. */
export interface Pair {
  readonly follower: UserId
  readonly followee: UserId
}

/** The key of a pair in a map. */
export const pairKey = ({ follower, followee }: { follower: string; followee: string }): string =>
  `${follower}>${followee}`

/** The names of the fields that hold the two users of a pair. */
interface PairFields {
  readonly follower: string
  readonly followee: string
}

/**
 * Few clauses of a filter that find all pairs: each pair in one of its follower or of its followee,
 * whichever has more pairs.
 */
export function clausesOf(
  pairs: readonly Pair[],
  fields: PairFields,
): Record<string, string | { readonly $in: string[] }>[] {
  const ofFollower = groupBy(pairs, ({ follower }) => follower)
  const ofFollowee = groupBy(pairs, ({ followee }) => followee)
  const sizeOf = (group: readonly Pair[] | undefined) => group?.length ?? 0
  const isToOne = ({ follower, followee }: Pair) =>
    sizeOf(ofFollowee.get(followee)) >= sizeOf(ofFollower.get(follower))
  const toOne = groupBy(pairs.filter(isToOne), ({ followee }) => followee)
  const fromOne = groupBy(
    pairs.filter((pair) => !isToOne(pair)),
    ({ follower }) => follower,
  )
  return [
    ...[...toOne].map(([followee, group]) => ({
      [fields.followee]: followee,
      [fields.follower]: { $in: group.map(({ follower }) => follower) },
    })),
    ...[...fromOne].map(([follower, group]) => ({
      [fields.follower]: follower,
      [fields.followee]: { $in: group.map(({ followee }) => followee) },
    })),
  ]
}

/** Pairs in the order of an index that begins with these two users. */
export const inOrderOf = <P extends Pair>(
  pairs: readonly P[],
  first: keyof Pair,
  second: keyof Pair,
): P[] =>
  pairs.toSorted((pair, other) =>
    pair[first] === other[first]
      ? compareStrings(pair[second], other[second])
      : compareStrings(pair[first], other[first]),
  )

const compareStrings = (one: string, other: string) => (one < other ? -1 : one > other ? 1 : 0)
