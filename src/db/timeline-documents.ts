import type { ObjectId } from 'mongodb'

/** A post in somebody's timeline: linked alone, or with what is embedded of it (seed 1). */
export interface EntryDoc {
  readonly post: ObjectId
  readonly author?: string
  readonly text?: string
}

/** What one period brought to a reader's timeline (seed 1), in order of arrival. */
export interface TimedBucketDoc {
  /** The period's number since 1970: all are of one length. */
  readonly _id: { readonly reader: string; readonly period: number }
  readonly entries: EntryDoc[]
  /** It was full, and what came after is not in it. */
  readonly over?: true
}

/** Some of a reader's timeline (seed 1), in order of arrival. Buckets of one reader may overlap. */
export interface SizedBucketDoc {
  readonly _id: ObjectId
  readonly reader: string
  /** It takes entries while it has room; a reader has at most one such. */
  readonly open?: true
  /** How many entries it was given. */
  readonly count: number
  /** Its latest and earliest post; while open the highest and the lowest id there is. */
  readonly newest: ObjectId
  readonly oldest: ObjectId
  readonly entries: EntryDoc[]
}

/** The newest entries of a reader's timeline (seed 1), newest first. */
export interface TimelineCacheDoc {
  readonly _id: string
  /** Of the registration that it was built under. */
  readonly epoch: ObjectId
  readonly entries: EntryDoc[]
  /** It holds all that is not below; what is cut off at its size lies below its last entry. */
  readonly floor: ObjectId
  /** Set while it is being built: it takes entries, and is not to be read. */
  readonly building?: ObjectId
  /** When it vanishes unless its reader comes before. */
  readonly expiresAt: Date
}

/** A post in a reader's inbox. */
export interface InboxDoc {
  readonly _id: { readonly reader: string; readonly post: ObjectId }
  readonly author?: string
  readonly text?: string
}

/** A strategy that this database maintains: every delivery goes to it, whoever runs it. */
export interface StrategyDoc {
  /** The name of the strategy. */
  readonly _id: string
  /** Names this registration: another one after a drop, or once what is stored no longer counts. */
  readonly epoch: ObjectId
  /** Readers up to this handle have all that was posted before the registration. */
  readonly covered: string
  /** All readers have. */
  readonly complete: boolean
  /** How many readers are covered, and were to be. */
  readonly readers?: { readonly done: number; readonly total: number }
  /** What is stored is being removed: nobody is covered, and it must not be registered anew. */
  readonly dropping?: true
  /** What its stored form depends on. */
  readonly options: Readonly<Record<string, number>>
}

/** An author whose posts are read instead of delivered, once neither of the two changes is going on. */
export interface CelebrityDoc {
  readonly _id: string
  /** Posts are delivered still, and a job of this name notes the author with each follower. */
  readonly promoting?: ObjectId
  /** When posts came to be read alone: those that were made later are in no inbox. */
  readonly readFrom?: ObjectId
  /** Posts are delivered again, and a job of this name delivers those that were left out: soon no longer one. */
  readonly falling?: ObjectId
}

/** A note that a reader's inbox may lack posts of an author. */
export interface PulledAuthorDoc {
  readonly _id: { readonly reader: string; readonly author: string }
}
