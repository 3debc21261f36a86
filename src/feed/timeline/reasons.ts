import type { Follows } from '../../follows/follows.ts'
import { checkGroup } from '../../follows/groups.ts'
import { hasBlock, type Restrictions } from '../../follows/restrictions.ts'
import type { PostRef, UserId } from '../../lib/ids.ts'
import type { Posts } from '../../posts/posts.ts'
import type { UserStats } from '../../users/stats.ts'
import type { Registry } from '../registry.ts'
import type { Pending } from './pending.ts'

/** Why a post is in a timeline, or is not. */
export const reasonCodes = {
  OWN_POST: 'The viewer published the post.',
  FOLLOWED: 'The viewer follows the author.',
  IN_GROUP: 'The author is in the requested group.',
  POST_DELETED: 'The post does not exist, or was deleted.',
  AUTHOR_DELETED: 'The author no longer has an account.',
  NOT_FOLLOWED: 'The viewer does not follow the author.',
  MUTED: 'The viewer muted the author.',
  BLOCKED: 'The viewer blocked the author, or the author blocked the viewer.',
  NOT_IN_GROUP: "The author is not in the requested group. The viewer's own posts are in no group.",
  DELIVERY_PENDING:
    'The delivery of the post is pending. Strategies that store timelines may not show the post yet.',
} as const
export type ReasonCode = keyof typeof reasonCodes

/** One reason. */
export interface Reason {
  readonly code: ReasonCode
  /** Since when the viewer follows the author, where that is the reason. */
  readonly since?: Date
  /** The viewer's groups that the author is in, where groups are the reason. */
  readonly groups?: readonly string[]
}

/** Why law L1 puts a post into a timeline; or all that keeps it out. */
export interface Verdict {
  readonly shown: boolean
  readonly reasons: readonly Reason[]
  /** Whether it may still be on its way. */
  readonly pending: boolean
}

/** What decides timelines. */
export interface ReasonsParts {
  readonly posts: Posts
  readonly follows: Follows
  readonly restrictions: Restrictions
  readonly stats: UserStats
  readonly pending: Pending
  readonly registry: Registry
}

/** Explains timelines by what decides them: graph, accounts and posts, whatever the strategy. */
export class Reasons {
  constructor(private readonly parts: ReasonsParts) {}

  /**
   * Why a post is, or is not, in the reader's timeline, or in that of one of their groups. Five commands, and one more
   * while a delivery of the post waits.
   * @throws {DomainError} BAD_USER_INPUT for a group that is no name.
   */
  async of(reader: UserId, post: PostRef, given?: string): Promise<Verdict> {
    const { posts, follows, restrictions, stats } = this.parts
    const { author } = post
    const group = given === undefined ? undefined : checkGroup('group', given)
    const [there, live, between, edge, pending] = await Promise.all([
      posts.existing([post]),
      stats.liveAmong([author]),
      restrictions.restrictionsFor(reader, [author]),
      follows.edgeOf(reader, author),
      this.isPending(reader, post),
    ])
    const own = author === reader
    const kinds = between.get(author)
    const against = (holds: boolean, code: ReasonCode, more?: Partial<Reason>): Reason[] =>
      holds ? [{ code, ...more }] : []
    const isIn = group === undefined || (edge?.groups.includes(group) ?? false)
    const why: Reason[] = [
      ...against(!live.has(author), 'AUTHOR_DELETED'),
      ...against(live.has(author) && !there.has(post.id), 'POST_DELETED'),
      ...against(!own && !edge, 'NOT_FOLLOWED'),
      ...against(kinds?.has('MUTE') === true, 'MUTED'),
      ...against(kinds !== undefined && hasBlock(kinds), 'BLOCKED'),
      ...against((own || edge !== undefined) && !isIn, 'NOT_IN_GROUP', {
        groups: edge?.groups ?? [],
      }),
    ]
    if (why.length > 0) return { shown: false, reasons: why, pending }
    const reasons: Reason[] = [
      ...against(own, 'OWN_POST'),
      ...(edge ? against(true, 'FOLLOWED', { since: edge.since }) : []),
      ...against(group !== undefined, 'IN_GROUP', { groups: edge?.groups ?? [] }),
    ]
    return { shown: true, reasons, pending }
  }

  /** No delivery is late where the database maintains no strategy. One command, and one more while a job waits. */
  private async isPending(reader: UserId, post: PostRef): Promise<boolean> {
    const pair = { follower: reader, followee: post.author }
    if (!(await this.parts.pending.isUnderWay(post, pair))) return false
    return (await this.parts.registry.read()).size > 0
  }
}
