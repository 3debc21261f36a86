import { neighbour, type TimeId, type UserId } from '../../lib/ids.ts'
import { pageSizeMax } from '../../lib/page.ts'
import type { FeedStrategyName } from '../strategies/list.ts'
import type { FeedService } from './feed-service.ts'
import type { PageFacts } from './page-facts.ts'
import { isAsHeld, type PollCursor, settle } from './poll-cursor.ts'
import type { Watermarks } from './watermark.ts'

/** The number of new posts that are counted. */
export const newsMax = 20
/** The number of authors that are named. */
export const newsAuthorsMax = 3

/** A poll for what is new in a timeline. */
export interface NewsRequest {
  /** What the poller holds. */
  readonly since: PollCursor
  /** Default: the configured strategy. */
  readonly strategy?: FeedStrategyName | undefined
  readonly group?: string | undefined
  /** Whether {@link News.changed} is needed. */
  readonly changed: boolean
}

/** What a poller does not hold yet. */
export interface News {
  /** The number of new posts, at most {@link newsMax}. */
  readonly count: number
  /** Whether there are more new posts. */
  readonly hasMore: boolean
  /** The authors of the newest new posts, newest first, at most {@link newsAuthorsMax}. */
  readonly authors: readonly UserId[]
  /**
   * Whether the timeline changed above the floor of the cursor other than by new posts. False is
   * proven. True with more than 100 new posts, or if the cursor covers too many posts. Unknown
   * without {@link NewsRequest.changed}.
   */
  readonly changed: boolean
  /** The cursor of the next poll by a poller that holds the same posts. */
  readonly cursor: PollCursor
  /** The facts that were read about the authors. */
  readonly facts: readonly PageFacts[]
}

/** Answers what is new in a timeline since a {@link PollCursor}, without a page. */
export class NewsReader {
  constructor(
    private readonly feed: FeedService,
    private readonly watermarks: Watermarks,
  ) {}

  /**
   * Finds the posts above the watermark of the cursor that the poller does not hold. With
   * `changed`, it also reads the posts that the poller holds, at most 200, and compares.
   * @throws {DomainError} BAD_USER_INPUT for a strategy that this process does not serve, or an
   * invalid group. Cost: the commands of the watermark, those of the strategy, and those of facts.
   * None from memory.
   * @see law L7
   */
  async findNews(reader: UserId, request: NewsRequest): Promise<News> {
    const { since, changed } = request
    const { strategy, group } = this.feed.checkRequest(request)
    // Read before the posts: later it would be above a post that appears in between.
    const { watermark } = await this.watermarks.load(reader, strategy, group)
    const isCompared = changed && !since.outdated
    const limit = since.recent.length + (isCompared ? since.settled + pageSizeMax : newsMax) + 1
    const newerThan = isCompared ? since.floor : since.watermark
    const range = { newerThan, oldestFirst: false, limit }
    const query = { reader, group, projection: 'ref' as const, range }
    const slice = await this.feed.readSlice(strategy, query)
    const items = slice.items.map(({ at }) => at)
    const isCut = items.length >= limit
    const held = new Set(since.recent)
    const isShort = slice.facts.length <= 1 && slice.servedBy === strategy
    const fresh = slice.items.filter(({ at }) => at > since.watermark && !held.has(at))
    return {
      count: Math.min(fresh.length, newsMax),
      hasMore: fresh.length > newsMax,
      authors: [...new Set(fresh.map(({ by }) => by))].slice(0, newsAuthorsMax),
      changed: isCompared ? isCut || !isAsHeld(since, items) : since.outdated,
      cursor: isCut ? since : advance(since, { watermark, oldestFresh: fresh.at(-1)?.at, isShort }),
      facts: slice.facts,
    }
  }
}

/** What a poll has found. */
interface Found {
  readonly watermark: TimeId
  readonly oldestFresh: TimeId | undefined
  /** Whether one read of stored entries was enough. */
  readonly isShort: boolean
}

/**
 * The cursor of a poller that holds the same posts. Its watermark rises, but stays below the new
 * posts. While no post is below a higher watermark, it stays the same, so that polls without news
 * repeat. But not above many hidden posts, which each poll would read again.
 */
function advance(since: PollCursor, { watermark, oldestFresh, isShort }: Found): PollCursor {
  // Pages are left to read.
  if (since.next !== undefined) return since
  const limit = oldestFresh === undefined ? watermark : neighbour(oldestFresh, -1)
  const advanced = settle(since, limit < watermark ? limit : watermark)
  const isSettled = advanced.settled === since.settled && advanced.outdated === since.outdated
  return isSettled && isShort ? since : advanced
}
