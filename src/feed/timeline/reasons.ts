import type { Follows } from '../../follows/follows.ts'
import { checkGroup } from '../../follows/groups.ts'
import { hasBlock, type Restrictions } from '../../follows/restrictions.ts'
import type { PostRef, UserId } from '../../lib/ids.ts'
import type { Posts } from '../../posts/posts.ts'
import type { UserStats } from '../../users/stats.ts'
import type { Registry } from '../registry/registry.ts'
import type { Pending } from './pending.ts'

/** The reasons why a timeline shows a post, or does not show it. */
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
  /** When the viewer followed the author. For FOLLOWED only. */
  readonly since?: Date
  /** The viewer's groups with the author. For IN_GROUP and NOT_IN_GROUP only. */
  readonly groups?: readonly string[]
}

/** Whether a timeline shows a post under law L1, and all reasons for that. */
export interface Verdict {
  readonly shown: boolean
  readonly reasons: readonly Reason[]
  /** Whether the post may be undelivered. */
  readonly pending: boolean
}

/** The parts that {@link Reasons} works with. */
export interface ReasonsParts {
  readonly posts: Posts
  readonly follows: Follows
  readonly restrictions: Restrictions
  readonly stats: UserStats
  readonly pending: Pending
  readonly registry: Registry
}

/** Explains timelines from the graph, the accounts and the posts. The answer is the same for every strategy. */
export class Reasons {
  constructor(private readonly parts: ReasonsParts) {}

  /**
   * Explains why the reader's timeline, or the timeline of one of the reader's groups, shows a post or not.
   * Five commands, and one more while a delivery of the post waits.
   * @throws {DomainError} BAD_USER_INPUT for an invalid group name.
   */
  async explainPost(reader: UserId, post: PostRef, given?: string): Promise<Verdict> {
    const { posts, follows, restrictions, stats } = this.parts
    const { author } = post
    const group = given === undefined ? undefined : checkGroup('group', given)
    const [existing, live, restrictionsByAuthor, edge, pending] = await Promise.all([
      posts.existing([post]),
      stats.liveAmong([author]),
      restrictions.restrictionsFor(reader, [author]),
      follows.edgeOf(reader, author),
      this.isPending(reader, post),
    ])
    const own = author === reader
    const kinds = restrictionsByAuthor.get(author)
    const reasonIf = (applies: boolean, code: ReasonCode, more?: Partial<Reason>): Reason[] =>
      applies ? [{ code, ...more }] : []
    const isBlocked = kinds !== undefined && hasBlock(kinds)
    const isIn = group === undefined || (edge?.groups.includes(group) ?? false)
    const hiding: Reason[] = [
      ...reasonIf(!live.has(author), 'AUTHOR_DELETED'),
      // A block also hides whether the post exists (law L6).
      ...reasonIf(live.has(author) && !existing.has(post.id) && !isBlocked, 'POST_DELETED'),
      ...reasonIf(!own && !edge, 'NOT_FOLLOWED'),
      ...reasonIf(kinds?.has('MUTE') === true, 'MUTED'),
      ...reasonIf(isBlocked, 'BLOCKED'),
      ...reasonIf((own || edge !== undefined) && !isIn, 'NOT_IN_GROUP', {
        groups: edge?.groups ?? [],
      }),
    ]
    if (hiding.length > 0) return { shown: false, reasons: hiding, pending }
    const reasons: Reason[] = [
      ...reasonIf(own, 'OWN_POST'),
      ...(edge ? reasonIf(true, 'FOLLOWED', { since: edge.since }) : []),
      ...reasonIf(group !== undefined, 'IN_GROUP', { groups: edge?.groups ?? [] }),
    ]
    return { shown: true, reasons, pending }
  }

  /**
   * Whether a delivery of the post is pending. Never if no strategy is registered. One command, two while a job waits.
   */
  private async isPending(reader: UserId, post: PostRef): Promise<boolean> {
    const pair = { follower: reader, followee: post.author }
    if (!(await this.parts.pending.isBeingDelivered(post, pair))) return false
    return (await this.parts.registry.read()).size > 0
  }
}
