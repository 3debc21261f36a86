import type { PostFacts } from '../../db/collections.ts'
import type { TimeId, UserId } from '../../lib/ids.ts'
import type { Page, Range, Window } from '../../lib/page.ts'
import type { Post } from '../../posts/post.ts'
import type { FeedStrategyName } from '../strategies/list.ts'
import type { PageFacts } from './page-facts.ts'

/** The needed part of a post: its id and author, also its text, or everything. */
export type Projection = 'ref' | 'text' | 'content'

/** A request for a page of a timeline. */
export interface TimelineRequest {
  readonly window: Window
  /** Default: the configured strategy. */
  readonly strategy?: FeedStrategyName | undefined
  /** Only authors in this group of the reader's. The reader's own posts are in no group. */
  readonly group?: string | undefined
  readonly projection: Projection
  /** Whether posts need their current counts. Default: if the projection is `content`. */
  readonly counts?: boolean
  /** Whether the facts hold the reader's own entries. Default: no. */
  readonly viewerHas?: boolean
  /** Whether {@link TimelinePage.pending} is needed. Default: no. */
  readonly pending?: boolean
  /** Whether {@link TimelinePage.watermark} is needed. Default: no. */
  readonly watermark?: boolean
}

/** What a timeline lists: a post, at a place, because of a user. */
export interface TimelineItem {
  /**
   * The place: the order of the timeline, the content of cursors, and what polls compare. Of a
   * post, its id.
   */
  readonly at: TimeId
  /** The whole post, or the part that the projection needs. */
  readonly post: Post | (PostFacts & { readonly text?: string | undefined })
  /** The user who put the item there. Of a post, its author. */
  readonly by: UserId
  /** Why the item is there. POSTED: the author published the post. */
  readonly reason: 'POSTED'
}

/** A page of a timeline. */
export interface TimelinePage extends Page<TimelineItem> {
  /** The requested strategy, or the configured one. */
  readonly strategy: FeedStrategyName
  /**
   * The strategy of the page: FANOUT_ON_READ if the requested one does not reach back far enough or
   * does not cover the reader.
   */
  readonly servedBy: FeedStrategyName
  /**
   * Whether a post that belongs to the timeline may be missing because its delivery has not ended.
   * False means that the page holds every post of its window that belonged there when the page was
   * requested. Undefined if the request did not ask for it.
   */
  readonly pending: boolean | undefined
  /** See {@link Watermarks}. Read before the page. Undefined if the request did not ask for it. */
  readonly watermark: TimeId | undefined
  /** Whether the limit ended the page, so that more posts follow in the direction of the window. */
  readonly isCut: boolean
  /** The facts that were read about the authors, for resolvers that need them too. */
  readonly facts: readonly PageFacts[]
}

/** A part of a reader's timeline, and the needed part of its posts. */
export interface TimelineQuery {
  readonly reader: UserId
  readonly group: string | undefined
  readonly projection: Projection
  /** As in {@link TimelineRequest}. */
  readonly counts?: boolean | undefined
  readonly viewerHas?: boolean | undefined
  readonly range: Range
}

/** The result of a {@link TimelineQuery}. */
export interface TimelineSlice {
  readonly items: readonly TimelineItem[]
  readonly servedBy: FeedStrategyName
  /** Whether stored entries decide a part of the range. */
  readonly isStored: boolean
  readonly facts: readonly PageFacts[]
}
