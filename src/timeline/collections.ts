import { collectionOf } from '../db/collection-spec.ts'
import type { ObjectId } from '../db/mongo.ts'
import { count, date, id, list, object, set, text, whole } from '../db/shape.ts'

/** A post in a stored timeline: only linked, or with embedded contents. */
export interface EntryDoc {
  readonly post: ObjectId
  readonly author?: string
  readonly text?: string
}

/** The entries of one period in a reader's timeline, in order of arrival. */
export interface TimedBucketDoc {
  /** The number of the period since 1970. All periods have the same length. */
  readonly _id: { readonly reader: string; readonly period: number }
  readonly entries: EntryDoc[]
  /** Set if the bucket was full, so that it lacks later entries. */
  readonly over?: true
}

/**
 * A fixed number of entries of a reader's timeline, in order of arrival. Buckets of a reader may
 * overlap.
 */
export interface SizedBucketDoc {
  readonly _id: ObjectId
  readonly reader: string
  /** Set while the bucket takes entries. A reader has at most one open bucket. */
  readonly open?: true
  /** The number of entries that the bucket ever had. */
  readonly count: number
  /** The newest and the oldest post. While the bucket is open, the highest and the lowest id. */
  readonly newest: ObjectId
  readonly oldest: ObjectId
  readonly entries: EntryDoc[]
}

/** The newest entries of a reader's timeline, newest first. */
export interface TimelineCacheDoc {
  readonly _id: string
  /** The epoch of the registration under which the cache was built. */
  readonly epoch: ObjectId
  readonly entries: EntryDoc[]
  /**
   * The cache contains every post of the timeline from this id on. A full cache: from its last
   * entry on.
   */
  readonly floor: ObjectId
  /** Set during the build. The cache takes entries then, but pages do not read it. */
  readonly building?: ObjectId
  /** When the cache is deleted, unless its reader reads it before. */
  readonly expiresAt: Date
}

/** A post in a reader's inbox. */
export interface InboxDoc {
  readonly _id: { readonly reader: string; readonly post: ObjectId }
  readonly author?: string
  readonly text?: string
}

/** A range of readers: ids above `after`, up to `upTo`. Without `upTo`, all ids above `after`. */
export interface CoveredRange {
  readonly after: string
  readonly upTo?: string
  /** The timelines of readers in the range, up to this id, are back-filled. */
  readonly covered: string
  /** Set when all timelines of the range are back-filled. */
  readonly done?: true
}

/** The registration of a strategy. The deliveries of all processes write to it. */
export interface StrategyDoc {
  /** The name of the strategy. */
  readonly _id: string
  /**
   * Identifies this registration. It changes after a drop, and when the stored timelines are
   * invalidated.
   */
  readonly epoch: ObjectId
  /** The timelines of readers up to this id are back-filled. */
  readonly covered: string
  /**
   * The ranges of readers beyond `covered` that are back-filled separately. They end with the
   * epoch.
   */
  readonly split?: readonly CoveredRange[]
  /** Whether all timelines are back-filled. */
  readonly complete: boolean
  /**
   * Every post of a timeline from this id on is stored, and older ones may be removed. Absent:
   * every post. It rises, and ends with the epoch.
   */
  readonly floor?: ObjectId
  /** The number of readers that are back-filled, and the estimated number of all readers. */
  readonly readers?: { readonly done: number; readonly total: number }
  /**
   * When the back-fill may begin: posts of transactions that do not know the registration are
   * committed by then. In the year 9999 before the wait begins. Absent: there are none.
   */
  readonly settlesAt?: Date
  /**
   * Set by large imports: only the timelines of readers with this `imported` or a later one are
   * back-filled, because all others are. It ends with the epoch.
   */
  readonly changedSince?: ObjectId
  /** Set during a drop. No reader is covered then, and the strategy cannot be registered. */
  readonly dropping?: true
  /** The options of the stored form, by name. */
  readonly options: Readonly<Record<string, number>>
}

const entries = list(object({ post: id }, { author: text, text }))

/**
 * What timelines store: it is derived from the other collections, but for the registrations of
 * strategies.
 */
export const timelineCollections = {
  timeline_cache: collectionOf<TimelineCacheDoc>()({
    about: 'a whole timeline down to `floor`',
    indexes: [{ key: { expiresAt: 1 }, expireAfterSeconds: 0 }],
    shardKey: { _id: 1 },
    accountIn: 'whole',
    shape: object({ _id: text, epoch: id, entries, floor: id, expiresAt: date }, { building: id }),
  }),
  timed_buckets: collectionOf<TimedBucketDoc>()({
    about: 'the entries of one period of a timeline; the time of the post decides which',
    indexes: [],
    shardKey: { _id: 1 },
    accountIn: { within: 'reader' },
    shape: object({ _id: object({ reader: text, period: whole }), entries }, { over: set }),
  }),
  sized_buckets: collectionOf<SizedBucketDoc>()({
    about: 'a number of entries of a timeline; a reader has at most one open bucket',
    indexes: [
      { key: { reader: 1, open: 1 }, unique: true, partialFilterExpression: { open: true } },
      { key: { reader: 1, newest: -1, oldest: 1 } }, // from the newest on
      { key: { reader: 1, oldest: 1, newest: 1 } }, // from the oldest on
    ],
    shardKey: { reader: 1 },
    accountIn: 'whole',
    shape: object({ _id: id, reader: text, count, newest: id, oldest: id, entries }, { open: set }),
  }),
  inbox: collectionOf<InboxDoc>()({
    about: 'one entry of a timeline',
    indexes: [],
    clustered: true,
    shardKey: { _id: 1 },
    accountIn: { within: 'reader' },
    shape: object({ _id: object({ reader: text, post: id }) }, { author: text, text }),
  }),
  strategies: collectionOf<StrategyDoc>()({
    about:
      'a strategy that the database maintains, the floor of its timelines, the progress of its back-fill',
    indexes: [],
    shape: object(
      {
        _id: text,
        epoch: id,
        covered: text,
        complete: { bsonType: 'bool' },
        options: { bsonType: 'object', additionalProperties: count },
      },
      {
        settlesAt: date,
        changedSince: id,
        dropping: set,
        floor: id,
        readers: object({ done: whole, total: whole }),
        split: list(object({ after: text, covered: text }, { upTo: text, done: set })),
      },
    ),
  }),
}
