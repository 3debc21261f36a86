import { countEdges, countUsers, type DegreeClass } from './degrees.ts'
import type { CapacityInputs } from './inputs.ts'

/** Authors with about the same number of followers, and the posts of all of them. */
export interface AuthorClass {
  readonly followers: number
  readonly postsPerSecond: number
}

/**
 * The posts of each class of authors. An author's share of the posts is proportional to
 * followers^`authorBias`. They add up to `postsPerSecond`, unless no author has a share.
 */
export function authorClasses({
  followers,
  postsPerSecond,
  authorBias,
}: Pick<CapacityInputs, 'followers' | 'postsPerSecond' | 'authorBias'>): AuthorClass[] {
  const weightOf = ({ users, degree }: DegreeClass) => users * degree ** authorBias
  const sum = followers.reduce((total, one) => total + weightOf(one), 0)
  return followers.map((one) => ({
    followers: one.degree,
    postsPerSecond: sum === 0 ? 0 : (postsPerSecond * weightOf(one)) / sum,
  }))
}

/**
 * The entries that posts add to the timelines of followers, per second: each post once for each
 * reader of its audience.
 * @param audienceOf the readers who get an entry, by the number of followers. Default: all
 *   followers.
 */
export const deliveriesPerSecond = (
  authors: readonly AuthorClass[],
  audienceOf: (followers: number) => number = (followers) => followers,
): number =>
  authors.reduce(
    (sum, { followers, postsPerSecond }) => sum + audienceOf(followers) * postsPerSecond,
    0,
  )

export const secondsPerDay = 86_400

/** What bounds the entries of a timeline. */
export type Retention = Pick<CapacityInputs, 'days' | 'entryDays'>

/**
 * The entries in all stored timelines after `days`. A reader with k followees gets k / edges of all
 * deliveries, and the own posts. Retention caps each class of readers.
 */
export function storedEntries(
  { followees, ...retention }: Retention & Pick<CapacityInputs, 'followees'>,
  deliveries: number,
  ownPosts: number,
): number {
  const [edges, users] = [countEdges(followees), countUsers(followees)]
  return followees.reduce((sum, group) => {
    const received = edges === 0 ? 0 : (deliveries * group.degree) / edges
    const perDay = (received + (users === 0 ? 0 : ownPosts / users)) * secondsPerDay
    return sum + group.users * cappedEntries(perDay, retention)
  }, 0)
}

/** The entries of one timeline that gets `perDay` entries a day. */
export const cappedEntries = (perDay: number, { days, entryDays }: Retention): number =>
  perDay * Math.min(days, entryDays)
