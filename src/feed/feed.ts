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

/** What candidates are checked against: the graph and the accounts as they are now, from the reader's side. */
export interface Truth {
  followees(among: readonly UserId[]): Promise<ReadonlySet<UserId>>
  /** Those whom the reader muted, or between whom and the reader a block stands. */
  restricted(among: readonly UserId[]): Promise<ReadonlySet<UserId>>
  live(among: readonly UserId[]): Promise<ReadonlySet<UserId>>
}

/** What a reader asks of their timeline. */
export interface TimelineRequest {
  readonly window: Window
  /** Undefined: the configured one. */
  readonly strategy?: FeedStrategyName | undefined
  /** Only the authors in this group of the reader's; their own posts are in none. */
  readonly group?: string | undefined
  /** Whether anything of a post beyond its id and author is needed. */
  readonly content: boolean
  /** Where one who will ask more about the same people reads the truth. Default: from the services. */
  readonly truth?: Truth | undefined
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
    const truth = this.truthFor(reader, group, request.truth)
    const read = (range: Range, content: boolean) =>
      this.fill(strategy, { reader, group, truth }, range, content)
    const found = await read(rangeOf(request.window), request.content)
    const any = async (range: Range) => (await read(range, false)).length > 0
    return { ...pageFrom(request.window, found, any), strategy: name }
  }

  private truthFor(reader: UserId, group: string | undefined, given: Truth | undefined): Truth {
    const own: Truth = {
      followees: (among) => this.follows.followeesAmong(reader, among, group),
      restricted: async (among) => new Set((await this.restrictions.between(reader, among)).keys()),
      live: (among) => this.stats.liveAmong(among),
    }
    if (!given) return own
    return group === undefined ? given : { ...given, followees: own.followees }
  }

  private async fill(
    strategy: FeedStrategy,
    whose: Whose,
    range: Range,
    content: boolean,
  ): Promise<(Post | PostRef)[]> {
    const { reader, group } = whose
    const refused = new Set<UserId>()
    return fillPage<Post | PostRef>(
      range.limit,
      (last, limit) => {
        const bound = last && (range.oldestFirst ? { newerThan: last.id } : { olderThan: last.id })
        return strategy.candidates(reader, { ...range, ...bound, limit }, group, refused)
      },
      (entries) => this.surviving(whose, entries, content, refused),
    )
  }

  /** Those entries that law L1 admits now, as whole posts when content is asked for; notes authors it does not admit. */
  private async surviving(
    { reader, group, truth }: Whose,
    entries: readonly PostRef[],
    content: boolean,
    refused: Set<UserId>,
  ): Promise<(Post | PostRef)[]> {
    const authors = [...new Set(entries.map(({ author }) => author))]
    const others = authors.filter((author) => author !== reader)
    const [followed, restricted, live, posts] = await Promise.all([
      truth.followees(others),
      truth.restricted(others),
      truth.live(authors),
      content ? this.posts.byRefs(entries) : undefined,
    ])
    for (const author of authors) {
      const shown =
        author === reader ? group === undefined : followed.has(author) && !restricted.has(author)
      if (!shown || !live.has(author)) refused.add(author)
    }
    return entries.flatMap((entry) => {
      const item = posts ? posts.get(entry.id) : entry
      return item && !refused.has(entry.author) ? [item] : []
    })
  }
}

/** Whose timeline, or part of one, is read, and what is true for them. */
interface Whose {
  readonly reader: UserId
  readonly group: string | undefined
  readonly truth: Truth
}
