import type { EngagementId, PostId, PostRef, UserId } from '../lib/ids.ts'
import {
  fillPages,
  type Page,
  pageFrom,
  type Range,
  rangeOf,
  shareRanges,
  type Window,
} from '../lib/page.ts'
import type { Visibility } from '../visibility/visibility.ts'
import type { EngagementReader } from './reader.ts'
import type { UserEngagement, UserEngagementIndex } from './user-index.ts'

/** A post in a user's list of likes; `id` is the like's, so the list runs by when it was liked. */
export interface LikedPost {
  readonly id: EngagementId
  readonly post: PostRef
}

/** The posts that users like: entries of {@link UserEngagementIndex} that the posts confirm and the viewer may see. */
export class LikedPosts {
  constructor(
    private readonly userIndex: UserEngagementIndex,
    private readonly reader: EngagementReader,
  ) {}

  /**
   * A page of each user's likes, newest first, for `viewer`. Five commands for any number of users and likes, and as
   * many again for each round in which the pages of some users are refilled. Reading `hasNextPage` or `hasPreviousPage`
   * of the far side costs the commands of a page, for all users together.
   */
  async pages(
    users: readonly UserId[],
    window: Window,
    visibility: Visibility,
  ): Promise<Map<UserId, Page<LikedPost>>> {
    const found = await this.fill(users, rangeOf(window), visibility)
    const probed = shareRanges((range) => this.fill(users, range, visibility))
    return new Map(
      users.map((user) => [
        user,
        pageFrom(
          window,
          (found.get(user) ?? []).map(toLiked),
          async (range) => (await probed(range)).get(user)?.length !== 0,
        ),
      ]),
    )
  }

  private async fill(
    users: readonly UserId[],
    range: Range,
    visibility: Visibility,
  ): Promise<Map<UserId, UserEngagement[]>> {
    return fillPages<UserId, UserEngagement, UserEngagement>(
      users,
      range,
      async (some, last, limit) => {
        const past = new Map([...last].map(([user, { id }]) => [user, id]))
        const isFirst = past.size === 0
        const found = await this.userIndex.ranges(
          some,
          'likes',
          { ...range, limit },
          isFirst ? undefined : past,
        )
        return new Map(some.map((user) => [user, found.get(user) ?? []]))
      },
      async (found) => {
        const ids = await this.confirmed([...found.values()].flat(), visibility)
        return new Map(
          [...found].map(([user, entries]) => [user, entries.filter(({ id }) => ids.has(id))]),
        )
      },
    )
  }

  private async confirmed(
    entries: readonly UserEngagement[],
    visibility: Visibility,
  ): Promise<Set<EngagementId>> {
    const posts = new Map<PostId, PostRef>(entries.map(({ post }) => [post.id, post]))
    const authors = entries.map(({ post }) => post.author)
    const users = [...new Set(entries.map(({ user }) => user))]
    const [stored, hidden] = await Promise.all([
      this.reader.entries(['likes'], [...posts.values()], users),
      visibility.hiddenAmong('POST', authors),
    ])
    return new Set(stored.filter(({ post: { author } }) => !hidden.has(author)).map(({ id }) => id))
  }
}

const toLiked = ({ id, post }: UserEngagement): LikedPost => ({ id, post })
