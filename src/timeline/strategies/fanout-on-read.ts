import type { Follows } from '../../follows/follows.ts'
import type { KeptRelations } from '../../follows/kept-relations.ts'
import { batches } from '../../lib/batch.ts'
import type { PostRef, UserId } from '../../lib/ids.ts'
import type { Range } from '../../lib/page.ts'
import type { ProcessMemory } from '../../memory/process-memory.ts'
import type { Posts } from '../../posts/posts.ts'
import type { Tails } from '../../posts/tails.ts'
import { isShown } from '../../visibility/rules.ts'
import type { Visibility } from '../../visibility/visibility.ts'
import { sortEntries } from '../entries.ts'
import type { Candidates, FeedStrategy, StrategyQuery, StrategyTexts } from './strategy.ts'

/** The strategy that stores nothing, so it has texts only. */
export const fanoutOnRead = {
  name: 'FANOUT_ON_READ',
  description: 'Assembles the timeline on each read from the posts of all followees.',
  table: {
    post: 'written once',
    page: 'merged from everyone followed, 200 authors a command',
    stored: 'nothing',
  },
} as const satisfies StrategyTexts

/**
 * The largest number of authors for which MongoDB merges the index without a sort. 201 authors cost
 * 100 times as much.
 */
const authorsPerQuery = 200

/** The number of followees whose mutes and blocks one command reads. */
const restrictedMax = 1_000

/**
 * How often a page is composed from memory before it is read from the database: two fills may be
 * needed.
 */
const triesMax = 3

/** The parts that {@link FanoutOnRead} works with. */
export interface FanoutOnReadParts {
  readonly follows: Follows
  readonly posts: Posts
  readonly visibilityFor: (viewer: UserId) => Visibility
  readonly memory: ProcessMemory
  readonly keptRelations: KeptRelations
  readonly tails: Tails
}

/**
 * Assembles the timeline when it is read: the newest posts of all followees, and of the reader.
 * From memory where that reaches; what is missing is read, and kept. Otherwise it sends one query
 * for each 200 followees and reads at most one page from each author. Each query after the first
 * reads only the range in which its posts can still enter the page. It stores nothing. The
 * integrity checks compare the other strategies with it.
 */
export class FanoutOnRead implements FeedStrategy {
  constructor(private readonly parts: FanoutOnReadParts) {}

  /**
   * None from memory; for a reader or followees that are not there, two and one for each 200 of
   * them. Otherwise, as with a group, one covered command for each 1,000 followees, and one for
   * each 200. If authors are excluded, two more for each 1,000 followees: it leaves out all hidden
   * authors at once.
   */
  async proposeCandidates({
    reader,
    range,
    group,
    excludedAuthors,
  }: Omit<StrategyQuery, 'registration'>): Promise<
    Candidates & { readonly entries: readonly PostRef[] }
  > {
    const kept = group === undefined ? await this.proposeKept(reader, range) : undefined
    if (kept) return { entries: kept, complete: true, areKept: true }
    return {
      entries: await this.loadPosts(this.authors(reader, group, excludedAuthors), range),
      complete: true,
    }
  }

  /**
   * The posts of the reader's followees in a range, from memory. Undefined if memory does not
   * reach.
   */
  private async proposeKept(reader: UserId, range: Range): Promise<readonly PostRef[] | undefined> {
    const { memory, keptRelations, tails, posts } = this.parts
    for (let tries = 1; tries <= triesMax; tries++) {
      // A read that has filled memory may have seen more than memory, which must know as much
      // before rules apply.
      if (!(await memory.isCurrent())) return undefined
      const relations = await keptRelations.load(reader)
      if (!relations) return undefined
      const { refs, missing } = tails.propose([reader, ...relations.sources], range)
      if (missing.length === 0) return refs
      const read = posts.refsByAuthors.bind(posts)
      if (tries === triesMax || !(await tails.fill(missing, range, read))) return undefined
    }
    return undefined
  }

  /**
   * Loads the posts of `authors` in a range, in its order. One covered command for each 200
   * authors.
   */
  async loadPosts(
    authors: AsyncIterable<UserId> | Iterable<UserId>,
    range: Range,
  ): Promise<PostRef[]> {
    let page: PostRef[] = []
    for await (const batch of batches(authors, authorsPerQuery)) {
      const found = await this.parts.posts.refsByAuthors(batch, narrowed(range, page))
      page = page.length === 0 ? found : sortEntries([...page, ...found], range)
    }
    return page
  }

  private async *authors(
    reader: UserId,
    group: string | undefined,
    excludedAuthors: ReadonlySet<UserId>,
  ): AsyncGenerator<UserId> {
    const { follows, visibilityFor } = this.parts
    if (group === undefined) yield reader
    for await (const followees of batches(follows.followeesOf(reader, group), restrictedMax)) {
      if (excludedAuthors.size === 0) yield* followees
      else {
        const followed = new Set(followees)
        const facts = await visibilityFor(reader).load('AUTHOR', followees, { followed })
        const isProposed = (user: UserId) =>
          !excludedAuthors.has(user) &&
          isShown('AUTHOR', reader, { user }, { ...facts, members: undefined })
        yield* followees.filter(isProposed)
      }
    }
  }
}

/** The part of the range whose posts can still enter the page. */
function narrowed(range: Range, page: readonly PostRef[]): Range {
  const last = page.length >= range.limit ? page.at(-1)?.id : undefined
  if (last === undefined) return range
  const bound = range.oldestFirst ? { olderThan: last } : { newerThan: last }
  return { ...range, ...bound }
}
