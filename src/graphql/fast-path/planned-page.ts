import type { UserId } from '../../lib/ids.ts'
import type { Post } from '../../posts/post.ts'
import {
  presentPollCursor,
  type TimelineArgs,
  timelineWindowOf,
} from '../../timeline/api/timeline-args.ts'
import type { Projection, TimelinePage, TimelineRequest } from '../../timeline/pages/page.ts'
import type { PageFacts } from '../../timeline/pages/page-facts.ts'
import type { KeptAccount } from '../../users/kept-accounts.ts'
import { isShown } from '../../visibility/rules.ts'
import type { PlannedServices } from './field-plan.ts'
import type { PostPlan, ReaderFacts, ShownPost } from './post-plan.ts'

type Item = TimelinePage['items'][number]

/** A page to render. */
export interface PlannedPage extends TimelinePage {
  readonly pollCursor: string | null
  readonly shownOf: (item: Item) => ShownPost
  /** Without the rest. */
  readonly factsOf: (post: ShownPost['post']) => Omit<ReaderFacts, 'rest'>
  /** The pieces of a post under a plan. They may have been rendered before. */
  readonly renderPost: (plan: PostPlan, shown: ShownPost) => readonly string[]
}

/**
 * The part of a timeline that is asked for. @throws {DomainError} BAD_USER_INPUT for wrong
 * arguments.
 */
export function placeOf({ feed }: PlannedServices, args: TimelineArgs) {
  const filter = { strategy: args.strategy ?? undefined, group: args.group ?? undefined }
  feed.checkRequest(filter)
  return { ...timelineWindowOf(args), filter }
}

/** @returns undefined if only graphql-js renders a post or an author. */
export async function readPlannedPage(
  { feed, keptPosts }: PlannedServices,
  request: TimelineRequest,
  base: ReturnType<typeof placeOf>['base'],
  reader: UserId,
): Promise<PlannedPage | undefined> {
  const page = await feed.timeline(reader, request)
  const authors = accountsIn(page.facts)
  if (!page.items.every(({ post }) => isShownElsewhere(page.facts, reader, post))) return undefined
  if (!page.items.every(({ post }) => isRenderable(post, request.projection, authors)))
    return undefined
  const accountOf = (author: UserId) => authors.get(author) as KeptAccount
  return {
    ...page,
    pollCursor: presentPollCursor(page, request.window, base),
    shownOf: ({ post }) => {
      const { profile } = accountOf(post.author)
      return { post: post as Post, author: profile as NonNullable<typeof profile> }
    },
    factsOf: ({ id, author }) => ({
      reader,
      followsAuthor: isFollowedIn(page.facts, author),
      viewerHas: page.facts.find(({ summaries }) => summaries?.has(id))?.summaries?.get(id)
        ?.viewerHas,
    }),
    renderPost: (by, shown) =>
      keptPosts.renderOnce(shown.post, accountOf(shown.post.author), by.key, () =>
        by.render(shown),
      ),
  }
}

/** The accounts of all authors of a read. */
export const accountsIn = (facts: readonly PageFacts[]): ReadonlyMap<UserId, KeptAccount> =>
  facts.length === 1 && facts[0]
    ? facts[0].accounts
    : new Map(facts.flatMap(({ accounts }) => [...accounts]))

/**
 * Whether the reader may see the profile of an author also outside of timelines. Otherwise only
 * graphql-js answers, which leaves out or reduces what a rule hides.
 */
export const isShownPerson = (facts: readonly PageFacts[], reader: UserId, user: UserId): boolean =>
  facts.every((known) => !known.accounts.has(user) || isShown('PERSON', reader, { user }, known))

/** The same of a post and its author. */
const isShownElsewhere = (
  facts: readonly PageFacts[],
  reader: UserId,
  { id, author }: Item['post'],
): boolean =>
  isShownPerson(facts, reader, author) &&
  facts.every(
    (known) => !known.posts.has(id) || isShown('POST', reader, { user: author, post: id }, known),
  )

/** Whether the reader follows an author, as a read found. */
export const isFollowedIn = (facts: readonly PageFacts[], author: UserId): boolean =>
  facts.some(({ followed }) => followed.has(author))

/** The part of a post without which only graphql-js renders it. A malformed post lacks it. */
const requiredParts = { ref: 'id', text: 'text', content: 'createdAt' } as const

const isRenderable = (
  post: Item['post'],
  projection: Projection,
  authors: ReadonlyMap<UserId, KeptAccount>,
): boolean => requiredParts[projection] in post && authors.get(post.author)?.profile !== undefined
