import type { Binary, ObjectId } from 'mongodb'
import type { EngagementKind } from '../engagement/kinds.ts'

/** Where an edge came from (seed 3). */
export const edgeSources = ['FEEDLINE', 'TWITTER', 'FACEBOOK', 'MEDIUM', 'IMPORT'] as const
export type EdgeSource = (typeof edgeSources)[number]

/** A person. After `deletedAt` only the handle is left, until the purge is over and the handle is free. */
export interface UserDoc {
  readonly _id: string
  readonly name?: string
  readonly bio?: string
  readonly createdAt: Date
  readonly deletedAt?: Date
}

/**
 * A person's counters, beside the edges they count (seed 3). Exactly live users have one, and every write that
 * adds an edge or a post changes it: so it is also the document on which such writes meet a deletion or a block.
 */
export interface UserStatsDoc {
  readonly _id: string
  readonly followers: number
  readonly following: number
  readonly posts: number
  /** Raised by writes that change no count but must not pass a follow unseen. */
  readonly guard?: number
  /** How often reconciliation has changed the counters, or the edges that they count. */
  readonly repairs?: number
}

/** An edge seen from the followee, `user` (seed 4). Its `_id` tells when it was made. */
export interface FollowerDoc {
  readonly _id: ObjectId
  readonly user: string
  readonly follower: string
  readonly source: EdgeSource
  /** The follower's own groups for the followee; kept here only under `reverse-index`. */
  readonly groups?: string[]
}

/** The same edge seen from the follower, `user`. Not stored under `reverse-index`. */
export interface FollowingDoc {
  readonly _id: ObjectId
  readonly user: string
  readonly followee: string
  readonly source: EdgeSource
  readonly groups?: string[]
}

/** One line of the history of a pair (seed 3); `user` is the follower. */
export interface FollowEventDoc {
  readonly _id: ObjectId
  readonly user: string
  readonly followee: string
  readonly type: 'FOLLOWED' | 'UNFOLLOWED'
  /** Of the edge that began or ended. */
  readonly source: EdgeSource
  readonly at: Date
  /** Set where the follower did not end it themselves. */
  readonly cause?: 'BLOCK'
}

/** What `owner` put between themselves and `other`; a block has a mirror, so that each side finds it under its own key. */
export interface RestrictionDoc {
  readonly _id: ObjectId
  readonly owner: string
  readonly other: string
  readonly kind: 'MUTE' | 'BLOCK' | 'BLOCKED_BY'
  /** How often reconciliation has checked this block in order to repair it. */
  readonly repairs?: number
}

export interface AttachmentDoc {
  readonly url: string
  readonly kind: 'IMAGE' | 'VIDEO' | 'LINK'
  readonly alt?: string
}

/** A number for each kind of engagement; an absent one is 0. */
export type PerKind = Readonly<Partial<Record<EngagementKind, number>>>

/** A post. Its `_id` is its time and its place in every timeline. */
export interface PostDoc extends Readonly<Partial<Record<EngagementKind, EngagementDoc[]>>> {
  readonly _id: ObjectId
  readonly author: string
  readonly text: string
  readonly attachments?: AttachmentDoc[]
  /** How many entries each list has, here and in overflow. */
  readonly counts?: PerKind
  /** The place of the last entry that each list was given. */
  readonly last?: Readonly<Partial<Record<EngagementKind, ObjectId>>>
  /** How many overflow documents each list has. */
  readonly levels?: PerKind
  /** Whether it has any (seed 0's flag); else absent. */
  readonly has_overflow?: true
  /** How often reconciliation has changed the counts. */
  readonly repairs?: number
  /** Raised by writes that change nothing else of the post but must not pass another write unseen. */
  readonly guard?: number
}

/** A like, comment or share, in its post or in overflow: it stays where it was put. */
export interface EngagementDoc {
  readonly _id: ObjectId
  /** Its place in the list where that is not its `_id`: another one was committed before that has a later `_id`. */
  readonly place?: ObjectId
  readonly actor: string
  readonly text?: string
}

/** What a list holds beyond its post's threshold (seeds 0 and 2). Levels follow each other in the order of their entries. */
export interface OverflowDoc {
  readonly _id: { readonly post: ObjectId; readonly kind: EngagementKind; readonly level: number }
  /** The place of the first entry it was given. */
  readonly first: ObjectId
  readonly count: number
  readonly items: EngagementDoc[]
}

/**
 * What a user engaged with, written before the entry itself: so none is ever missing here, and one whose entry
 * does not exist in its post means nothing.
 */
export interface EngagedDoc {
  readonly _id: ObjectId
  readonly user: string
  readonly kind: EngagementKind
  readonly post: ObjectId
  readonly author: string
}

/** Jobs that are soon done, and jobs that are long: neither may keep the other from being run. */
export const jobLanes = ['QUICK', 'BULK'] as const
export type JobLane = (typeof jobLanes)[number]

/** A job, inserted in the transaction of the write that caused it. */
export interface JobDoc {
  readonly _id: ObjectId
  readonly kind: string
  readonly payload: Readonly<Record<string, unknown>>
  readonly state: 'READY' | 'PARKED'
  readonly lane: JobLane
  /** Not to be claimed before; while claimed, when the lease ends; once parked, since when. Server time. */
  readonly runAt: Date
  /** Rises with every claim and whatever ends one: a worker whose lease is over no longer matches. */
  readonly fence: number
  /** Names the claim, until the lease is ended; one that ran out has set it still. */
  readonly leased?: string
  readonly checkpoint?: unknown
  /** Tries begun since the checkpoint last moved. */
  readonly attempts: number
  /** What the last try that failed threw. */
  readonly error?: string
}

/** The first result of a mutation that carried a clientMutationId, of the account that the viewer has had `since`. */
export interface MutationDoc {
  readonly _id: { readonly viewer: string; readonly since: Date; readonly id: string }
  /** SHA-256 of the mutation's name and input. */
  readonly fingerprint: Binary
  readonly result: unknown
  readonly at: Date
}

/** How far an import has come. */
export interface ImportDoc {
  readonly _id: string
  readonly [field: string]: unknown
}

/** Facts about the database as a whole. */
export interface MetaDoc {
  readonly _id: string
  readonly value: string
}

/** How far a reconciliation has come. Removed a month after. */
export interface ReconciliationDoc {
  readonly _id: string
  /** What was asked for: another run of the same goes on where this one was cut off. */
  readonly asked: string
  readonly startedAt: Date
  /** Until when nobody else takes it over, by the server's clock. */
  readonly leasedUntil: Date
  /** Rises with every claim. */
  readonly fence: number
  readonly part: 'edges' | 'users' | 'posts' | 'timelines'
  /** The last edge, handle, post or reader of the part that is done. */
  readonly after: string
  readonly tally: Readonly<Record<string, number>>
  readonly done?: true
}

/** A difference that a reconciliation applied: at most one a run and subject. Removed a month after. */
export interface RepairDoc {
  readonly _id: { readonly run: string; readonly id: string }
  readonly kind: 'USER' | 'POST'
  /** What was added to each counter. */
  readonly by: Readonly<Record<string, number>>
  /** What they said before. */
  readonly counted: Readonly<Record<string, number>>
  /** By how much the one that was off the most was off. */
  readonly size: number
  /** How many edges of this user the run had mended before. */
  readonly mended?: number
  readonly at: Date
}

/** Which process commits the writes to a key on which processes collided, until its lease ends. */
export interface HotKeyDoc {
  readonly _id: string
  readonly owner: string
  /** The end of the lease, by the server's clock. */
  readonly until: Date
}

/** Writes to a hot key that a process asks the owner to commit. Removed by the process once they are answered. */
export interface HotWriteDoc {
  readonly _id: ObjectId
  readonly key: string
  readonly ops: readonly Readonly<Record<string, unknown>>[]
  /** When it was asked, by the server's clock. */
  readonly at: Date
  /** One answer for each of `ops`, from the transaction that committed them; null: the asking process commits each alone. */
  readonly answers?: readonly Readonly<Record<string, unknown>>[] | null
}
