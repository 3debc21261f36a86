import type { Restrictions } from '../follows/restrictions.ts'
import type { EngagementId, PostId, PostRef, UserId } from '../lib/ids.ts'
import { fillPage, type Page, pageFrom, type Range, rangeOf, type Window } from '../lib/page.ts'
import type { UserStats } from '../users/stats.ts'
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
    private readonly stats: UserStats,
    private readonly restrictions: Restrictions,
  ) {}

  /**
   * A page of each user's likes, newest first, for `viewer`. Five commands whatever the number of users and of likes;
   * as many again for a user whose page must be refilled.
   */
  async pages(
    users: readonly UserId[],
    window: Window,
    viewer: UserId | undefined,
  ): Promise<Map<UserId, Page<LikedPost>>> {
    const range = rangeOf(window)
    const indexed = await this.userIndex.ranges(users, 'likes', range)
    const confirmed = await this.confirmed([...indexed.values()].flat(), viewer)
    const pages = users.map(async (user) => {
      const first = indexed.get(user) ?? []
      const found = await this.fill(user, range, viewer, { first, confirmed })
      const any = async (probe: Range) => (await this.fill(user, probe, viewer)).length > 0
      return [user, pageFrom(window, found.map(toLiked), any)] as const
    })
    return new Map(await Promise.all(pages))
  }

  /** @param read what was read for several users together: their first candidates, and which of them hold. */
  private async fill(
    user: UserId,
    range: Range,
    viewer: UserId | undefined,
    read?: {
      readonly first: readonly UserEngagement[]
      readonly confirmed: ReadonlySet<EngagementId>
    },
  ): Promise<UserEngagement[]> {
    return fillPage<UserEngagement, UserEngagement>(
      range.limit,
      async (last, limit) => {
        if (!last && read) return read.first
        const bound = last && (range.oldestFirst ? { newerThan: last.id } : { olderThan: last.id })
        const more = await this.userIndex.ranges([user], 'likes', { ...range, ...bound, limit })
        return more.get(user) ?? []
      },
      async (entries) => {
        const ids = entries === read?.first ? read.confirmed : await this.confirmed(entries, viewer)
        return entries.filter(({ id }) => ids.has(id))
      },
    )
  }

  private async confirmed(
    entries: readonly UserEngagement[],
    viewer: UserId | undefined,
  ): Promise<Set<EngagementId>> {
    if (entries.length === 0) return new Set()
    const posts = new Map<PostId, PostRef>(entries.map(({ post }) => [post.id, post]))
    const authors = [...new Set(entries.map(({ post }) => post.author))]
    const pairs = viewer === undefined ? [] : authors.map((other) => ({ one: viewer, other }))
    const users = [...new Set(entries.map(({ user }) => user))]
    const [stored, live, blocked] = await Promise.all([
      this.reader.entries(['likes'], [...posts.values()], users),
      this.stats.liveAmong(authors),
      this.restrictions.blocksBetween(pairs),
    ])
    return new Set(
      stored
        .filter(({ post: { author } }) => live.has(author) && !blocked.has(`${viewer}>${author}`))
        .map(({ id }) => id),
    )
  }
}

const toLiked = ({ id, post }: UserEngagement): LikedPost => ({ id, post })
