import type { UserId } from '../../src/lib/ids.ts'

/**
 * A follow graph with its mutes and blocks in memory, whose suggestions are computed as simply as
 * possible.
 */
export class PeopleModel {
  /** The followees of each user, oldest follow first. */
  private readonly followees = new Map<UserId, UserId[]>()
  private readonly restricted = new Set<string>()

  /** Adds a follow unless it exists. */
  follow(follower: UserId, followee: UserId): void {
    const all = this.followeesOf(follower)
    if (!all.includes(followee)) this.followees.set(follower, [...all, followee])
  }

  unfollow(follower: UserId, followee: UserId): void {
    const rest = this.followeesOf(follower).filter((one) => one !== followee)
    this.followees.set(follower, rest)
  }

  mute(user: UserId, other: UserId): void {
    this.restricted.add(`mute ${user} ${other}`)
  }

  unmute(user: UserId, other: UserId): void {
    this.restricted.delete(`mute ${user} ${other}`)
  }

  block(user: UserId, other: UserId): void {
    this.restricted.add(`block ${user} ${other}`)
    this.unfollow(user, other)
    this.unfollow(other, user)
  }

  unblock(user: UserId, other: UserId): void {
    this.restricted.delete(`block ${user} ${other}`)
  }

  hasBlock(user: UserId, other: UserId): boolean {
    return [`block ${user} ${other}`, `block ${other} ${user}`].some((one) =>
      this.restricted.has(one),
    )
  }

  /** Ends all follows of a user, as the deletion of an account does. */
  remove(user: UserId): void {
    this.followees.delete(user)
    for (const follower of this.followees.keys()) this.unfollow(follower, user)
  }

  followeesOf(user: UserId): readonly UserId[] {
    return this.followees.get(user) ?? []
  }

  /**
   * The followees in common, the viewer's newest follow first, among the viewer's newest `among`
   * followees.
   */
  mutuals(viewer: UserId, user: UserId, among = Number.POSITIVE_INFINITY): UserId[] {
    const others = new Set(this.followeesOf(user))
    return newest(this.followeesOf(viewer), among).filter((one) => others.has(one))
  }

  /**
   * The users that followees of the viewer follow, with the number of these followees.
   * @param sample counts only the newest followees of the viewer.
   * @param follows the most follows that are counted of all of them together: an equal share of
   *   each, newest first.
   */
  suggestions(
    viewer: UserId,
    { sample = Number.POSITIVE_INFINITY, follows = Number.POSITIVE_INFINITY } = {},
  ): [user: UserId, commonCount: number][] {
    const sampled = newest(this.followeesOf(viewer), sample)
    const counts = new Map<UserId, number>()
    for (const followee of sampled) {
      for (const one of newest(this.followeesOf(followee), Math.floor(follows / sampled.length))) {
        counts.set(one, (counts.get(one) ?? 0) + 1)
      }
    }
    const followed = new Set(this.followeesOf(viewer))
    return [...counts]
      .filter(([one]) => one !== viewer && !followed.has(one) && !this.isRestricted(viewer, one))
      .sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1))
      .slice(0, 100)
  }

  private isRestricted(viewer: UserId, user: UserId): boolean {
    return this.restricted.has(`mute ${viewer} ${user}`) || this.hasBlock(viewer, user)
  }
}

const newest = (list: readonly UserId[], count: number): readonly UserId[] =>
  list.toReversed().slice(0, count)
