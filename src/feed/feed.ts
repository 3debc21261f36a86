import type { StrategyDoc } from '../db/collections.ts'
import { badInput } from '../errors.ts'
import { checkGroup } from '../follows/groups.ts'
import { hasBlock } from '../follows/restrictions.ts'
import type { PostId, PostRef, UserId } from '../lib/ids.ts'
import { fillPage, type Page, pageFrom, type Range, rangeOf, type Window } from '../lib/page.ts'
import type { Post } from '../posts/post.ts'
import type { Posts } from '../posts/posts.ts'
import type { Pending } from './pending.ts'
import { covers, isSame, type Registry } from './registry.ts'
import type { FeedStrategyName } from './strategies/list.ts'
import type { Entry, FeedStrategy } from './strategies/strategy.ts'
import type { Facts, Truth } from './truth.ts'

/** What of a post is needed: its id and author alone, the text too, or all of it. */
export type Depth = 'ref' | 'text' | 'content'

/** What a reader asks of their timeline. */
export interface TimelineRequest {
  readonly window: Window
  /** Undefined: the configured one. */
  readonly strategy?: FeedStrategyName | undefined
  /** Only the authors in this group of the reader's; their own posts are in none. */
  readonly group?: string | undefined
  readonly depth: Depth
  /** Whether {@link TimelinePage.pending} is needed. Default: no. */
  readonly pending?: boolean
}

/** A post as a page shows it: whole, or what its entry holds where that is enough. */
export type TimelineItem = Post | (PostRef & { readonly text?: string | undefined })

/** A page of a timeline. */
export interface TimelinePage extends Page<TimelineItem> {
  /** Which strategy was asked for. */
  readonly strategy: FeedStrategyName
  /** Which one the page came from: FANOUT_ON_READ where the other does not reach, or does not cover the reader yet. */
  readonly servedBy: FeedStrategyName
  /**
   * Whether a post that belongs to the timeline may be missing because its delivery has not ended. False means that
   * the page holds every post of its window that belonged there when the page was requested.
   * Undefined if the request did not ask for it.
   */
  readonly pending: boolean | undefined
  /** What was found out about the authors, for those who ask more about them. */
  readonly facts: readonly Facts[]
}

/** The strategies that may be asked for here, by name. */
export type FeedStrategies = Partial<Readonly<Record<FeedStrategyName, FeedStrategy>>> & {
  readonly FANOUT_ON_READ: FeedStrategy
}

/** What a {@link FeedService} reads from. */
export interface FeedServiceParts {
  readonly strategies: FeedStrategies
  /** The strategy of requests that name none. */
  readonly standard: FeedStrategyName
  readonly registry: Registry
  readonly truth: Truth
  readonly pending: Pending
  readonly posts: Posts
}

/** How often a page is read again because registrations changed while it was read. */
const triesMax = 3

/**
 * Serves timelines (seed 1's feed service). A page is the strategy's candidates, less what the graph and the posts
 * say now, refilled until it is full: unfollow, mute, block and delete take effect at once whatever the strategy.
 * @see law L1
 */
export class FeedService {
  constructor(private readonly parts: FeedServiceParts) {}

  /**
   * One page of the reader's timeline, newest first, gap-free and without repeats along its cursors.
   * Costs the strategy's commands and one for what is true, content included; as many again for a refill.
   * With `pending`, one or two more, unless FANOUT_ON_READ was asked for.
   * @throws {DomainError} BAD_USER_INPUT for a strategy that is not maintained.
   */
  async timeline(reader: UserId, request: TimelineRequest): Promise<TimelinePage> {
    const { window, depth } = request
    const { strategies, standard, pending } = this.parts
    const strategy = request.strategy ?? standard
    if (!strategies[strategy]) {
      const maintained = Object.keys(strategies).join(', ')
      throw badInput(
        'strategy',
        `this server does not maintain ${strategy}. Maintained strategies: ${maintained}`,
      )
    }
    const group = request.group === undefined ? undefined : checkGroup('group', request.group)
    // Before the candidates: a delivery that ends in between has written its entries.
    const waits =
      request.pending && strategy !== 'FANOUT_ON_READ' && (await pending.to(reader, group))
    const { items, servedBy, isStored, facts } = await this.read(
      strategy,
      { reader, group, depth },
      rangeOf(window),
    )
    // A page without stored entries has not asked whether they lack a post: its probes do not read them either.
    const probed = isStored ? strategy : 'FANOUT_ON_READ'
    const any = async (range: Range) =>
      (await this.read(probed, { reader, group, depth: 'ref' }, range)).items.length > 0
    return {
      ...pageFrom(window, items, any),
      strategy,
      servedBy,
      pending: request.pending && isStored && waits,
      facts,
    }
  }

  /**
   * Reads under the registrations that were last seen, and again under those that the page itself has read if they
   * differ; after three tries from FANOUT_ON_READ, which depends on none. A reader whose timeline is not back-filled
   * reads from FANOUT_ON_READ at once.
   */
  private async read(name: FeedStrategyName, whose: Whose, range: Range): Promise<Found> {
    const { registry } = this.parts
    let registered = await registry.lastSeen()
    for (let tries = 1; ; tries++) {
      const registration = registered.get(name)
      const isCovered = tries <= triesMax && covers(registration, whose.reader)
      const found = await this.fill(isCovered ? name : 'FANOUT_ON_READ', registration, whose, range)
      const seen = found.facts.map((facts) => facts.registered)
      // A page without candidates has read no facts.
      if (isCovered && seen.length === 0) seen.push(await registry.read())
      const last = seen.at(-1) ?? registered
      registry.update(last)
      if (!isCovered || seen.every((now) => isSame(registration, now.get(name)))) return found
      registered = last
    }
  }

  private async fill(
    name: FeedStrategyName,
    registration: StrategyDoc | undefined,
    whose: Whose,
    range: Range,
  ): Promise<Found> {
    const { strategies } = this.parts
    const { reader, group } = whose
    const refused = new Set<UserId>()
    const facts: Facts[] = []
    let servedBy = name
    let isStored = false
    let rounds = 0
    const candidates = (range: Range) =>
      (strategies[servedBy] ?? strategies.FANOUT_ON_READ).candidates({
        reader,
        range,
        group,
        refused,
        registration,
      })
    const items = await fillPage<Entry, TimelineItem>(
      range.limit,
      async (last, limit) => {
        const rest = past(range, last, limit)
        if (++rounds > storedRoundsMax) servedBy = 'FANOUT_ON_READ'
        const { entries, complete } = await candidates(rest)
        if (servedBy !== 'FANOUT_ON_READ' && (complete || entries.length > 0)) isStored = true
        if (complete || entries.length >= limit) return entries
        servedBy = 'FANOUT_ON_READ'
        const more = await candidates(past(rest, entries.at(-1), limit - entries.length))
        return [...entries, ...more.entries]
      },
      async (proposed) => {
        const entries = proposed.filter(({ author }) => !author || !refused.has(author))
        if (entries.length === 0) return []
        const found = await this.surviving(whose, entries, refused)
        facts.push(found.facts)
        return found.items
      },
    )
    return { items, servedBy, isStored, facts }
  }

  /** Those entries that law L1 admits now; notes authors it does not admit. */
  private async surviving(
    { reader, group, depth }: Whose,
    entries: readonly Entry[],
    refused: Set<UserId>,
  ): Promise<{ items: TimelineItem[]; facts: Facts }> {
    const refs = await this.refsOf(entries)
    const embedded = depth === 'text' && entries.every(({ text }) => text !== undefined)
    const content = depth !== 'ref' && !embedded
    const facts = await this.parts.truth.about(reader, refs, group, content)
    for (const author of facts.authors) {
      const between = facts.restrictions.get(author)
      const hidden = between !== undefined && (between.has('MUTE') || hasBlock(between))
      const shown = author === reader ? group === undefined : facts.followed.has(author) && !hidden
      if (!shown || !facts.stats.has(author)) refused.add(author)
    }
    const texts = embedded ? new Map(entries.map(({ id, text }) => [id, text])) : undefined
    const items = refs.flatMap(({ id, author }): TimelineItem[] => {
      const post = facts.posts.get(id)
      if (!post || refused.has(author)) return []
      return [texts ? { ...post, text: texts.get(id) } : post]
    })
    return { items, facts }
  }

  /** Whose the posts are. One command where entries do not say it. */
  private async refsOf(entries: readonly Entry[]): Promise<PostRef[]> {
    const unknown = entries.filter(({ author }) => author === undefined).map(({ id }) => id)
    const authors =
      unknown.length > 0 ? await this.parts.posts.authorsOf(unknown) : new Map<PostId, UserId>()
    return entries.flatMap(({ id, author = authors.get(id) }) => (author ? [{ id, author }] : []))
  }
}

/**
 * How often a page is refilled from what is stored. Each time it takes twice as many entries, so 31 pages of entries
 * that do not show, of muted authors above all, are passed over; beyond, FANOUT_ON_READ leaves their authors out.
 */
const storedRoundsMax = 5

/** The part of a range that follows an entry. */
function past(range: Range, last: Entry | undefined, limit: number): Range {
  const bound = last && (range.oldestFirst ? { newerThan: last.id } : { olderThan: last.id })
  return { ...range, ...bound, limit }
}

/** Whose timeline, which part of it, and how much of each post. */
interface Whose {
  readonly reader: UserId
  readonly group: string | undefined
  readonly depth: Depth
}

interface Found {
  readonly items: TimelineItem[]
  readonly servedBy: FeedStrategyName
  /** Whether stored entries say what any part of the range holds. */
  readonly isStored: boolean
  readonly facts: readonly Facts[]
}
