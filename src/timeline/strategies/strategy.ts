import type { StrategyDoc } from '../../db/collections.ts'
import type { Tx } from '../../db/transaction.ts'
import type { PostId, UserId } from '../../lib/ids.ts'
import type { Range } from '../../lib/page.ts'
import { floorOf } from './floor.ts'

/** A post in a timeline, with the stored contents of the post: linking, or embedding. */
export interface Entry {
  readonly id: PostId
  readonly author?: UserId | undefined
  readonly text?: string | undefined
}

/** A query for a part of a reader's timeline. */
export interface StrategyQuery {
  readonly reader: UserId
  readonly range: Range
  /**
   * The reader's group whose authors the page shows. A strategy may also propose posts of other
   * authors.
   */
  readonly group: string | undefined
  /**
   * Authors whose posts the page does not show. A strategy may still propose their entries if
   * leaving them out costs more.
   */
  readonly excludedAuthors: ReadonlySet<UserId>
  /** The registration under which the page is read. */
  readonly registration: StrategyDoc | undefined
}

/** The entries that a strategy proposes. */
export interface Candidates {
  /** In the order of the range, without repeats. */
  readonly entries: readonly Entry[]
  /**
   * Whether fewer entries than requested mean the end of the range. If not, more entries may
   * follow.
   */
  readonly complete: boolean
  /**
   * Whether they are existing posts in memory that was current, so that the facts in memory are as
   * new. Default: no.
   */
  readonly areKept?: true
}

/**
 * Proposes the entries of a reader's timeline. FeedService does everything that is the same for all
 * strategies: visibility, refill, order of the page, cursors, contents. So a strategy may propose
 * stale entries. When no job waits, it omits no entry that law L1 demands.
 * @see https://github.com/mongodb-labs/socialite, whose feed service has these strategies
 */
export interface FeedStrategy {
  proposeCandidates(query: StrategyQuery): Promise<Candidates>
}

/**
 * Consecutive posts of one followee, or of a reader's whole timeline, that a back-fill adds to the
 * timeline.
 */
export interface Segment {
  /** Newest first. */
  readonly entries: readonly Entry[]
  /** Whether no newer post existed when it was read. */
  readonly newest: boolean
  /** Whether no older post existed when it was read. */
  readonly oldest: boolean
}

/** The posts of a reader's timeline that are stored, newest first. */
export interface WholeTimeline {
  readonly reader: UserId
  readonly entries: readonly Entry[]
}

/**
 * A strategy that stores timelines. A write that was interrupted can be repeated, and a repeat
 * changes nothing. The options of the stored form come from the registration that the operation
 * read, not from the configuration.
 */
export interface MaterialisedStrategy extends FeedStrategy {
  /**
   * The number of newest entries that one document holds, if this is all that is stored. Otherwise
   * Infinity.
   */
  depthMax(registration: StrategyDoc): number
  /** Adds a post to the timelines of at most 500 readers. */
  deliver(entry: Entry, readers: readonly UserId[], registration: StrategyDoc): Promise<void>
  /** Adds a segment of earlier posts, at most 500, to a reader's timeline. */
  merge(reader: UserId, segment: Segment, registration: StrategyDoc): Promise<void>
  /**
   * Adds whole timelines to those of several readers, in the order of their ids. Default:
   * {@link merge} for each reader and 500 posts.
   */
  mergeAll?(timelines: readonly WholeTimeline[]): Promise<void>
  /**
   * Removes at most 500 posts from the timelines of at most 500 readers. No page depends on it.
   * @param tx the transaction of the removal. Default: none.
   */
  remove(
    readers: readonly UserId[],
    posts: readonly PostId[],
    registration: StrategyDoc,
    tx?: Tx,
  ): Promise<void>
  /** Deletes a reader's stored timeline. */
  deleteReader(reader: UserId): Promise<void>
}

/** A strategy's stored timelines under one registration. */
export interface StoredTimelines {
  readonly depthMax: number
  /** Adds a post to timelines. Not a post below the floor. */
  deliver(entry: Entry, readers: readonly UserId[]): Promise<void>
  /**
   * Adds a segment of earlier posts to a reader's timeline, down to the floor.
   * @returns false if no older posts are stored.
   */
  merge(reader: UserId, segment: Segment): Promise<boolean>
  /** Adds the timelines of some readers, down to the floor, in the order of their ids. */
  mergeAll(timelines: readonly WholeTimeline[]): Promise<void>
  remove(readers: readonly UserId[], posts: readonly PostId[], tx?: Tx): Promise<void>
  deleteReader(reader: UserId): Promise<void>
}

/**
 * Opens a strategy's stored timelines under one registration. Its options apply to all operations.
 * @param registration as read after the edge or post was committed.
 */
export const bindRegistration = (
  strategy: MaterialisedStrategy,
  registration: StrategyDoc,
): StoredTimelines => {
  const floor = floorOf(registration)
  const isKept = ({ id }: Entry) => floor === undefined || id >= floor
  return {
    depthMax: strategy.depthMax(registration),
    async deliver(entry, readers) {
      if (isKept(entry)) await strategy.deliver(entry, readers, registration)
    },
    async merge(reader, segment) {
      const entries = segment.entries.filter(isKept)
      await strategy.merge(reader, { ...segment, entries }, registration)
      return entries.length === segment.entries.length
    },
    async mergeAll(timelines) {
      if (strategy.mergeAll) await strategy.mergeAll(timelines)
      else for (const one of timelines) await mergeWhole(strategy, one, registration)
    },
    remove: (readers, posts, tx) => strategy.remove(readers, posts, registration, tx),
    deleteReader: (reader) => strategy.deleteReader(reader),
  }
}

/** Number of posts that are added to a timeline at a time. */
export const segmentSize = 500

async function mergeWhole(
  strategy: MaterialisedStrategy,
  { reader, entries }: WholeTimeline,
  registration: StrategyDoc,
): Promise<void> {
  for (let from = 0; from < entries.length; from += segmentSize) {
    const [newest, oldest] = [from === 0, from + segmentSize >= entries.length]
    const some = entries.slice(from, from + segmentSize)
    await strategy.merge(reader, { entries: some, newest, oldest }, registration)
  }
}

/** The texts about a strategy. */
export interface StrategyTexts<Name extends string = string> {
  /** The name in the API, in the configuration and in the registration. Persisted. */
  readonly name: Name
  /** The description of the GraphQL enum value. */
  readonly description: string
  /** The row of the strategy in docs/explanation/strategies.md. */
  readonly table: { readonly post: string; readonly page: string; readonly stored: string }
}
