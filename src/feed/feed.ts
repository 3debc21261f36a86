import type { FeedStrategyName } from '../config.ts'
import { badInput } from '../errors.ts'
import type { Follows } from '../follows/follows.ts'
import { checkGroup } from '../follows/groups.ts'
import type { Restrictions } from '../follows/restrictions.ts'
import type { PostRef, UserId } from '../lib/ids.ts'
import { fillPage, type Page, pageFrom, type Range, rangeOf, type Window } from '../lib/page.ts'
import type { Post, Posts } from '../posts/posts.ts'
import type { UserStats } from '../users/stats.ts'
import type { FeedStrategy } from './strategy.ts'

/** What a reader asks of their timeline. */
export interface TimelineRequest {
  readonly window: Window
  /** Undefined: the configured one. */
  readonly strategy?: FeedStrategyName | undefined
  /** Only the authors in this group of the reader's; their own posts are in none. */
  readonly group?: string | undefined
  /** Whether anything of a post beyond its id and author is needed. */
  readonly content: boolean
}

/** A page of a timeline. Items are whole posts when content was asked for. */
export interface TimelinePage extends Page<Post | PostRef> {
  readonly strategy: FeedStrategyName
}

/** The strategies that are maintained here, by name. */
export type FeedStrategies = Partial<Readonly<Record<FeedStrategyName, FeedStrategy>>>

/**
 * Serves timelines (seed 1's feed service). A page is the strategy's candidates, less what the graph and the posts
 * say now, refilled until it is full: unfollow, mute, block and delete take effect at once whatever the strategy.
 * @see law L1
 */
export class FeedService {
  constructor(
    private readonly strategies: FeedStrategies,
    private readonly standard: FeedStrategyName,
    private readonly follows: Follows,
    private readonly restrictions: Restrictions,
    private readonly stats: UserStats,
    private readonly posts: Posts,
  ) {}

  /**
   * One page of the reader's timeline, newest first, gap-free and without repeats along its cursors.
   * Costs the strategy's commands, three covered ones, and one for content; as many again for a refill.
   * @throws {DomainError} BAD_USER_INPUT for a strategy that is not maintained.
   */
  async timeline(reader: UserId, request: TimelineRequest): Promise<TimelinePage> {
    const name = request.strategy ?? this.standard
    const strategy = this.strategies[name]
    if (!strategy) {
      const maintained = Object.keys(this.strategies).join(', ')
      throw badInput('strategy', `${name} is not maintained here; maintained: ${maintained}`)
    }
    const group = request.group === undefined ? undefined : checkGroup('group', request.group)
    const read = (range: Range, content: boolean) =>
      this.fill(strategy, reader, range, group, content)
    const found = await read(rangeOf(request.window), request.content)
    const any = async (range: Range) => (await read(range, false)).length > 0
    return { ...pageFrom(request.window, found, any), strategy: name }
  }

  private async fill(
    strategy: FeedStrategy,
    reader: UserId,
    range: Range,
    group: string | undefined,
    content: boolean,
  ): Promise<(Post | PostRef)[]> {
    return fillPage<Post | PostRef>(
      range.limit,
      (last, limit) => {
        const bound = last && (range.oldestFirst ? { newerThan: last.id } : { olderThan: last.id })
        return strategy.candidates(reader, { ...range, ...bound, limit }, group)
      },
      (entries) => this.surviving(reader, entries, group, content),
    )
  }

  /** Those entries that law L1 admits now, as whole posts when content is asked for. */
  private async surviving(
    reader: UserId,
    entries: readonly PostRef[],
    group: string | undefined,
    content: boolean,
  ): Promise<(Post | PostRef)[]> {
    const authors = [...new Set(entries.map(({ author }) => author))]
    const others = authors.filter((author) => author !== reader)
    const [followed, restricted, live, posts] = await Promise.all([
      this.follows.followeesAmong(reader, others, group),
      this.restrictions.between(reader, others),
      this.stats.liveAmong(authors),
      content ? this.posts.byRefs(entries) : undefined,
    ])
    const admits = (author: UserId) =>
      live.has(author) &&
      (author === reader ? group === undefined : followed.has(author) && !restricted.has(author))
    return entries.flatMap((entry) => {
      const item = posts ? posts.get(entry.id) : entry
      return item && admits(entry.author) ? [item] : []
    })
  }
}
