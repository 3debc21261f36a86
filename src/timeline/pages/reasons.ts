import type { Follows } from '../../follows/follows.ts'
import { checkGroup } from '../../follows/groups.ts'
import type { PostRef, UserId } from '../../lib/ids.ts'
import type { Posts } from '../../posts/posts.ts'
import { type RuleFor, reasonsToHide, rulesFor } from '../../visibility/rules.ts'
import type { Visibility } from '../../visibility/visibility.ts'
import type { Registry } from '../registry/registry.ts'
import type { Pending } from './pending.ts'

/** The reasons why a timeline shows a post, or does not show it. */
export const reasonCodes = {
  OWN_POST: 'The viewer published the post.',
  FOLLOWED: 'The viewer follows the author.',
  IN_GROUP: 'The author is in the requested group.',
  ...(Object.fromEntries(
    rulesFor('TIMELINE').map(([name, { meaning }]) => [name, meaning]),
  ) as Record<RuleFor<'TIMELINE'>, string>),
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
  readonly visibilityFor: (viewer: UserId) => Visibility
  readonly pending: Pending
  readonly registry: Registry
}

/**
 * Explains timelines from the graph, the accounts and the posts. The answer is the same for every
 * strategy.
 */
export class Reasons {
  constructor(private readonly parts: ReasonsParts) {}

  /**
   * Explains why the reader's timeline, or the timeline of one of the reader's groups, shows a post
   * or not. Five commands, and one more while a delivery of the post waits.
   * @throws {DomainError} BAD_USER_INPUT for an invalid group name.
   */
  async explainPost(reader: UserId, post: PostRef, requestedGroup?: string): Promise<Verdict> {
    const { posts, follows, visibilityFor } = this.parts
    const { author } = post
    const group = requestedGroup === undefined ? undefined : checkGroup('group', requestedGroup)
    const [existing, edge, pending] = await Promise.all([
      posts.existing([post]),
      follows.edgeOf(reader, author),
      this.isPending(reader, post),
    ])
    const followed = new Set(edge ? [author] : [])
    const facts = await visibilityFor(reader).load('TIMELINE', [author], { followed })
    const groups = edge?.groups ?? []
    const isMember = group !== undefined && groups.includes(group)
    const members = new Set(isMember ? [author] : [])
    const hiding = reasonsToHide(
      'TIMELINE',
      reader,
      { user: author, post: post.id },
      {
        ...facts,
        posts: existing,
        members: group === undefined ? undefined : members,
      },
    ).map((code): Reason => ({ code, ...(code === 'NOT_IN_GROUP' ? { groups } : {}) }))
    if (hiding.length > 0) return { shown: false, reasons: hiding, pending }
    const reasonIf = (applies: boolean, code: ReasonCode, more?: Partial<Reason>): Reason[] =>
      applies ? [{ code, ...more }] : []
    const reasons: Reason[] = [
      ...reasonIf(author === reader, 'OWN_POST'),
      ...(edge ? reasonIf(true, 'FOLLOWED', { since: edge.since }) : []),
      ...reasonIf(group !== undefined, 'IN_GROUP', { groups }),
    ]
    return { shown: true, reasons, pending }
  }

  /**
   * Whether a delivery of the post is pending. Never if no strategy is registered. One command, two
   * while a job waits.
   */
  private async isPending(reader: UserId, post: PostRef): Promise<boolean> {
    const pair = { follower: reader, followee: post.author }
    if (!(await this.parts.pending.isBeingDelivered(post, pair))) return false
    return (await this.parts.registry.read()).size > 0
  }
}
