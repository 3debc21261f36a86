import type {
  CollectionName,
  Collections,
  Documents,
  EntryDoc,
  StrategyDoc,
} from '../../db/collections.ts'
import type { Document } from '../../db/mongo.ts'
import type { Follows } from '../../follows/follows.ts'
import type { IdMint, PostId, UserId } from '../../lib/ids.ts'
import type { Posts } from '../../posts/posts.ts'
import type { EntryReader } from '../entry-reader.ts'
import type { FanoutOnRead } from './fanout-on-read.ts'
import type { Settings } from './setting.ts'
import type { MaterialisedStrategy, StrategyTexts } from './strategy.ts'

/** The parts from which strategies are created. */
export interface StrategyParts {
  readonly collections: Collections
  readonly follows: Follows
  readonly posts: Posts
  readonly entries: EntryReader
  readonly fanoutOnRead: FanoutOnRead
  readonly mint: IdMint
  /** Milliseconds since 1970. */
  readonly now: () => number
}

/**
 * All that the rest of Feedline knows about a strategy that stores timelines. The configuration,
 * the GraphQL enum, the commands, deliveries, the integrity checks and the documents derive from
 * it.
 */
export interface StrategyDescriptor<Name extends string = string, Own extends Settings = Settings>
  extends StrategyTexts<Name> {
  /** Emptied when the strategy is dropped. */
  readonly collections: readonly CollectionName[]
  /** The settings by their names in the configuration. All strategies share one namespace. */
  readonly settings: Own
  /**
   * Whether a timeline lacks something until it is filled. If so, jobs and repairs fill it. If not,
   * a repair deletes the timeline, and the next read creates it.
   */
  readonly backfilled: boolean
  /** How the integrity checks find and check the stored entries. */
  readonly storedForm: StoredForm
  create(
    parts: StrategyParts,
    settings: { readonly [S in keyof Own]: number },
  ): MaterialisedStrategy
}

/** How the integrity checks find the entries of a strategy in their collection. */
export interface StoredForm<Name extends CollectionName = CollectionName> {
  readonly collection: Name
  /**
   * How many documents are read as one part of a timeline. Each part is checked, and its posts are
   * looked up, at once.
   */
  readonly documentsTogether: number
  /** Matches the documents of one reader. */
  ofReader(reader: UserId): Document
  /**
   * Matches the timeline of a reader if it can be compared without creating it. 'always': no
   * timeline is created by reading.
   */
  readonly comparable: 'always' | ((reader: UserId, registration: StrategyDoc) => Document)
  /**
   * The stages that find the documents of a reader whose entries are all below a floor. Undefined:
   * the stored form is bounded, so nothing is removed for its age.
   */
  readonly below:
    | ((reader: UserId, floor: PostId, registration: StrategyDoc) => Document[])
    | undefined
  entriesIn(document: Documents[Name]): readonly EntryDoc[]
  /** Says which entry of a document is not in its place. Undefined: every entry is. */
  misplacedIn(document: Documents[Name], registration: StrategyDoc): string | undefined
}

/** Checks that a descriptor is complete, and gives `create` the types of its settings. */
export const defineStrategy = <const Name extends string, const Own extends Settings>(
  descriptor: StrategyDescriptor<Name, Own>,
): StrategyDescriptor<Name, Own> => descriptor
