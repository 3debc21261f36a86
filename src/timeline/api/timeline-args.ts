import { ArgsType, Field } from 'type-graphql'
import { checkAll } from '../../errors.ts'
import { ConnectionArgs, windowWith } from '../../graphql/connection.ts'
import { FeedStrategyEnum } from '../../graphql/types/common.ts'
import type { TimeId } from '../../lib/ids.ts'
import type { Window } from '../../lib/page.ts'
import { timeCursors } from '../../pages/cursor.ts'
import type { FeedService } from '../pages/feed-service.ts'
import type { NewsRequest } from '../pages/news.ts'
import type { TimelinePage } from '../pages/page.ts'
import { cursorAfterPage, type PollCursor, positionOf } from '../pages/poll-cursor.ts'
import type { FeedStrategyName } from '../strategies/list.ts'
import { pollCursors } from './poll-cursors.ts'

@ArgsType()
export class TimelineArgs extends ConnectionArgs {
  @Field(() => FeedStrategyEnum, {
    nullable: true,
    description:
      'The strategy that assembles the timeline. All strategies return the same posts. Only maintained strategies are accepted.',
  })
  readonly strategy?: FeedStrategyName | null

  @Field(() => String, {
    nullable: true,
    description: "Shows only authors in this group of the viewer's.",
  })
  readonly group?: string | null
}

@ArgsType()
export class TimelineNewsArgs {
  @Field(() => String, {
    description: 'The pollCursor of the last answer, by timeline or timelineNews.',
  })
  readonly since!: string

  @Field(() => FeedStrategyEnum, {
    nullable: true,
    description: 'The strategy that assembles the timeline, as for timeline.',
  })
  readonly strategy?: FeedStrategyName | null

  @Field(() => String, {
    nullable: true,
    description: "The viewer's group whose timeline is polled, as for timeline.",
  })
  readonly group?: string | null
}

/** What a poll asks for. @throws {DomainError} BAD_USER_INPUT. */
export function newsRequestOf(
  feed: Pick<FeedService, 'checkRequest'>,
  { since, strategy, group }: TimelineNewsArgs,
): Omit<NewsRequest, 'changed'> {
  const filter = { strategy: strategy ?? undefined, group: group ?? undefined }
  const { since: cursor } = checkAll({
    since: () => pollCursors.parse('since', since),
    filter: () => feed.checkRequest(filter),
  })
  return { ...filter, since: cursor }
}

/** The window of a timeline, which may also begin at a poll cursor, and where it begins. */
export function timelineWindowOf(args: TimelineArgs): {
  readonly window: Window
  readonly base: PollCursor | TimeId | undefined
} {
  const {
    before: base,
    after,
    ...size
  } = windowWith(args, (argument, text) => {
    const poll = argument === 'before' ? pollCursors.decode(text) : undefined
    return poll ?? timeCursors.parse(argument, text)
  })
  const before = typeof base === 'object' ? positionOf(base) : base
  return {
    window: { ...size, ...(after && { after: after as TimeId }), ...(before && { before }) },
    base,
  }
}

/**
 * The cursor of a client that holds the page. Null if it was not selected, or for a page after a
 * cursor.
 */
export function presentPollCursor(
  { items, watermark, isCut }: TimelinePage,
  window: Window,
  base: PollCursor | TimeId | undefined,
): string | null {
  if (watermark === undefined) return null
  const places = items.map(({ at }) => at)
  const cursor = cursorAfterPage(window, base, { posts: places, watermark, isCut })
  return cursor ? pollCursors.encode(cursor) : null
}
