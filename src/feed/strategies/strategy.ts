import type { StrategyDoc } from '../../db/collections.ts'
import type { Tx } from '../../db/transaction.ts'
import type { PostId, UserId } from '../../lib/ids.ts'
import type { Range } from '../../lib/page.ts'

/** A post in a timeline, with what its timeline holds of it (seed 1: linking, or embedding). */
export interface Entry {
  readonly id: PostId
  readonly author?: UserId | undefined
  readonly text?: string | undefined
}

/** What is asked of a strategy. */
export interface Ask {
  readonly reader: UserId
  readonly range: Range
  /** Only what the authors of this group of the reader's posted; more may be proposed. */
  readonly group: string | undefined
  /** Authors whose posts this page turned down before: they need not be proposed again. A strategy that would have to look at their entries to leave them out proposes them. */
  readonly refused: ReadonlySet<UserId>
  /** The registration the page is read under. */
  readonly registration: StrategyDoc | undefined
}

/** What a strategy proposes. */
export interface Candidates {
  /** In the order in which the range walks, without repeats. */
  readonly entries: readonly Entry[]
  /** Whether fewer than asked for means the end of the range; if not, the strategy knows nothing of what follows. */
  readonly complete: boolean
}

/**
 * Proposes what a reader's timeline may hold. What must be the same for all (who may be seen, refill, order of the
 * page, cursors, hydration) is FeedService's, so a strategy may propose entries that are stale, but at rest it omits
 * none that law L1 demands.
 * @see seed 1
 */
export interface FeedStrategy {
  candidates(ask: Ask): Promise<Candidates>
}

/** A stretch of what one followee posted, or a reader's whole timeline holds, to be added to it. */
export interface Stretch {
  /** Newest first. */
  readonly entries: readonly Entry[]
  /** Nothing is newer; it begins with the newest there was. */
  readonly newest: boolean
  /** Nothing is older. */
  readonly oldest: boolean
}

/**
 * A strategy that stores timelines. Each write may be cut off anywhere, and done again it changes nothing.
 * The options that the stored form depends on come with the registration that the operation read: never from the
 * configuration of the process.
 */
export interface MaterialisedStrategy extends FeedStrategy {
  /** How many of the newest entries of a timeline it can use at most. */
  depthMax(registration: StrategyDoc): number
  /** Adds a post to the timelines of so many readers, of a batch's size. */
  deliver(entry: Entry, readers: readonly UserId[], registration: StrategyDoc): Promise<void>
  /** Adds to a reader's timeline what was posted before. */
  merge(reader: UserId, stretch: Stretch, registration: StrategyDoc): Promise<void>
  /**
   * Removes posts from the timelines of so many readers; both of a batch's size. Housekeeping.
   * @param tx removes them in this transaction.
   */
  forget(
    readers: readonly UserId[],
    posts: readonly PostId[],
    registration: StrategyDoc,
    tx?: Tx,
  ): Promise<void>
  /** Removes a reader's timeline. Housekeeping. */
  forgetReader(reader: UserId): Promise<void>
}

/** A strategy's stored timelines under one registration. */
export interface StoredTimelines {
  readonly depthMax: number
  deliver(entry: Entry, readers: readonly UserId[]): Promise<void>
  merge(reader: UserId, stretch: Stretch): Promise<void>
  forget(readers: readonly UserId[], posts: readonly PostId[], tx?: Tx): Promise<void>
  forgetReader(reader: UserId): Promise<void>
}

/** Has all operations use the options of one registration: the one that was read after the edge or post was committed. */
export const under = (
  strategy: MaterialisedStrategy,
  registration: StrategyDoc,
): StoredTimelines => ({
  depthMax: strategy.depthMax(registration),
  deliver: (entry, readers) => strategy.deliver(entry, readers, registration),
  merge: (reader, stretch) => strategy.merge(reader, stretch, registration),
  forget: (readers, posts, tx) => strategy.forget(readers, posts, registration, tx),
  forgetReader: (reader) => strategy.forgetReader(reader),
})
