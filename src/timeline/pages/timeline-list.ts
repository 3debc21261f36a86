import type { PostId, PostRef, UserId } from '../../lib/ids.ts'
import type { Range } from '../../lib/page.ts'
import type { List } from '../../pages/pipeline.ts'
import type { Posts } from '../../posts/posts.ts'
import { isShown } from '../../visibility/rules.ts'
import type { Registration } from '../registry/registry.ts'
import {
  type ComputedName,
  type FeedStrategyName,
  isMaterialised,
  type MaterialisedName,
} from '../strategies/list.ts'
import type { Candidates, Entry, FeedStrategy } from '../strategies/strategy.ts'
import type { TimelineItem, TimelineQuery } from './page.ts'
import type { PageFacts, PageFactsReader } from './page-facts.ts'

/** The strategies that clients of this process can request, by name. */
export type FeedStrategies = Readonly<Record<ComputedName, FeedStrategy>> &
  Partial<Readonly<Record<MaterialisedName, FeedStrategy>>>

/** What a {@link TimelineList} reads from. */
export interface TimelineParts {
  readonly strategies: FeedStrategies
  readonly pageFacts: PageFactsReader
  readonly posts: Pick<Posts, 'authorsOf'>
}

/** The facts about some candidates. */
interface Known {
  /** Undefined: all candidates are of authors that the page leaves out. */
  readonly facts: PageFacts | undefined
  /**
   * Whether the candidates contain everything that the page needs, so that no post was read for its
   * text.
   */
  readonly isText: boolean
}

/**
 * Number of reads of stored entries for one page. Each read doubles the number of entries. So a
 * page skips up to three pages of hidden entries, mostly of muted authors. Then FANOUT_ON_READ
 * continues, which leaves these authors out. The price of a timeline contains these reads.
 */
const storedRoundsMax = 2

/**
 * One reader's timeline while a slice of it is read: the candidates are the entries of a strategy,
 * and then of FANOUT_ON_READ if the strategy has no more. The rules of a timeline decide law L1.
 */
export class TimelineList implements List<UserId, Entry, TimelineItem, Known> {
  /** The strategy that proposed the last entries. */
  servedBy: FeedStrategyName
  /** Whether stored entries decide a part of the range. */
  isStored = false
  /** All facts that were read. */
  readonly facts: PageFacts[] = []
  /** Authors whose posts the page does not show. */
  private readonly excludedAuthors = new Set<UserId>()
  private rounds = 0
  /** Whether the last candidates are existing posts from memory that was current. */
  private areKept = false

  constructor(
    private readonly parts: TimelineParts,
    private readonly query: TimelineQuery,
    strategy: FeedStrategyName,
    private readonly registration: Registration | undefined,
  ) {
    this.servedBy = strategy
  }

  /** The commands of the strategy, and then those of FANOUT_ON_READ. */
  async read(_: readonly UserId[], range: Range): Promise<Map<UserId, readonly Entry[]>> {
    if (++this.rounds > storedRoundsMax) this.servedBy = 'FANOUT_ON_READ'
    const { entries, complete, areKept = false } = await this.propose(range)
    this.areKept = areKept
    if (isMaterialised(this.servedBy) && (complete || entries.length > 0)) this.isStored = true
    const last = entries.at(-1)?.id
    if (complete || entries.length >= range.limit) return new Map([[this.query.reader, entries]])
    this.servedBy = 'FANOUT_ON_READ'
    const bound = last && (range.oldestFirst ? { newerThan: last } : { olderThan: last })
    const more = await this.propose({ ...range, ...bound, limit: range.limit - entries.length })
    this.areKept = entries.length === 0 && more.areKept === true
    return new Map([[this.query.reader, [...entries, ...more.entries]]])
  }

  placeOf({ id }: Entry): PostId {
    return id
  }

  /**
   * The commands of {@link PageFactsReader.load}, and one more if an entry does not hold its
   * author.
   */
  async loadFacts(candidates: readonly Entry[]): Promise<Known> {
    const { projection } = this.query
    const entries = candidates.filter(({ author }) => !author || !this.excludedAuthors.has(author))
    const isText = projection === 'text' && entries.every(({ text }) => text !== undefined)
    if (entries.length === 0) return { facts: undefined, isText }
    const refs = await this.loadRefs(entries)
    const content = projection !== 'ref' && !isText
    const facts = await this.parts.pageFacts.load(refs, {
      ...this.query,
      content,
      areKept: this.areKept,
    })
    this.facts.push(facts)
    for (const user of facts.authors) {
      if (!isShown('AUTHOR', this.query.reader, { user }, facts)) this.excludedAuthors.add(user)
    }
    return { facts, isText }
  }

  present({ id, text }: Entry, { facts, isText }: Known): TimelineItem | undefined {
    const post = facts?.posts.get(id)
    if (!facts || !post) return undefined
    const subject = { user: post.author, post: id }
    if (!isShown('TIMELINE', this.query.reader, subject, facts)) return undefined
    const shown = isText ? { ...post, text } : post
    return { at: id, post: shown, by: post.author, reason: 'POSTED' }
  }

  private propose(range: Range): Promise<Candidates> {
    const { strategies } = this.parts
    const { reader, group } = this.query
    const { excludedAuthors, registration } = this
    const strategy = strategies[this.servedBy] ?? strategies.FANOUT_ON_READ
    return strategy.proposeCandidates({ reader, range, group, excludedAuthors, registration })
  }

  /** The posts of entries. */
  private async loadRefs(entries: readonly Entry[]): Promise<PostRef[]> {
    const unknown = entries.filter(({ author }) => author === undefined).map(({ id }) => id)
    const authors =
      unknown.length > 0 ? await this.parts.posts.authorsOf(unknown) : new Map<PostId, UserId>()
    return entries.flatMap(({ id, author = authors.get(id) }) => (author ? [{ id, author }] : []))
  }
}
