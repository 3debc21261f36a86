import type { Binary, ObjectId } from 'mongodb'
import type { EngagementKind } from '../engagement/kinds.ts'

/** The origin of an edge. */
export const edgeSources = ['FEEDLINE', 'TWITTER', 'FACEBOOK', 'MEDIUM', 'IMPORT'] as const
export type EdgeSource = (typeof edgeSources)[number]

/** An account. A deleted account has no profile, and keeps its handle until the purge ends. */
export interface UserDoc {
  readonly _id: string
  readonly name?: string
  readonly bio?: string
  readonly avatarUrl?: string
  readonly bannerUrl?: string
  readonly createdAt: Date
  readonly deletedAt?: Date
  /** When no write of a deleted account is under way any more. Absent before its removal begins. */
  readonly settlesAt?: Date
}

/**
 * The counters of a live user. A deleted user has none. Every write that adds an edge or a post changes this
 * document, so such a write collides with a deletion or a block.
 */
export interface UserStatsDoc {
  readonly _id: string
  readonly followers: number
  readonly following: number
  readonly posts: number
  /** Raised by writes that change no counter but must collide with a follow. */
  readonly guard?: number
  /** The number of repairs of the counters, or of the counted edges. */
  readonly repairs?: number
}

/** An edge from the side of the followee, `user`. Its `_id` contains the time of the follow. */
export interface FollowerDoc {
  readonly _id: ObjectId
  readonly user: string
  readonly follower: string
  readonly source: EdgeSource
  /** The follower's groups with the followee. Stored here only under `reverse-index`. */
  readonly groups?: string[]
}

/** An edge from the side of the follower, `user`. Not stored under `reverse-index`. */
export interface FollowingDoc {
  readonly _id: ObjectId
  readonly user: string
  readonly followee: string
  readonly source: EdgeSource
  readonly groups?: string[]
}

/** An event in the history of a pair. `user` is the follower. */
export interface FollowEventDoc {
  readonly _id: ObjectId
  readonly user: string
  readonly followee: string
  readonly type: 'FOLLOWED' | 'UNFOLLOWED'
  /** The source of the edge. */
  readonly source: EdgeSource
  readonly at: Date
  /** Set if the edge did not end by an unfollow. */
  readonly cause?: 'BLOCK'
}

/** A mute or block between `owner` and `other`. A block has a mirror, so that each user finds it under the own key. */
export interface RestrictionDoc {
  readonly _id: ObjectId
  readonly owner: string
  readonly other: string
  readonly kind: 'MUTE' | 'BLOCK' | 'BLOCKED_BY'
  /** The number of checks of this block by repairs. */
  readonly repairs?: number
}

export interface AttachmentDoc {
  readonly url: string
  readonly kind: 'IMAGE' | 'VIDEO' | 'LINK'
  readonly alt?: string
  /** In pixels. */
  readonly width?: number
  /** In pixels. */
  readonly height?: number
  /** A short text from which a client draws a blurred preview. */
  readonly blurhash?: string
}

/** A mention, hashtag or link in a text, in code points. `end` is exclusive. */
export interface FacetDoc {
  readonly kind: 'MENTION' | 'HASHTAG' | 'LINK'
  readonly start: number
  readonly end: number
}

/** A number for each kind of engagement. An absent number is 0. */
export type PerKind = Readonly<Partial<Record<EngagementKind, number>>>

/** A post. Its `_id` contains its time and is its position in every timeline. */
export interface PostDoc extends Readonly<Partial<Record<EngagementKind, EngagementDoc[]>>> {
  readonly _id: ObjectId
  readonly author: string
  readonly text: string
  /** Absent for a text that was stored by an earlier release. */
  readonly facets?: readonly FacetDoc[]
  readonly attachments?: AttachmentDoc[]
  /** The number of entries of each list, here and in overflow. */
  readonly counts?: PerKind
  /** The position of the newest entry that each list ever had. */
  readonly last?: Readonly<Partial<Record<EngagementKind, ObjectId>>>
  /** The number of overflow documents of each list. */
  readonly levels?: PerKind
  /** Set if any list has overflow documents: the flag of the outlier pattern. */
  readonly has_overflow?: true
  /** The number of repairs of the counts. */
  readonly repairs?: number
  /** Raised by writes that change nothing else of the post but must collide with other writes. */
  readonly guard?: number
}

/** A like, comment or share, in its post or in overflow. It never moves. */
export interface EngagementDoc {
  readonly _id: ObjectId
  /** The position in the list. Set only if an entry with a later `_id` was committed before. Default: `_id`. */
  readonly place?: ObjectId
  readonly actor: string
  readonly text?: string
  /** Absent without a text, or for a text that was stored by an earlier release. */
  readonly facets?: readonly FacetDoc[]
}

/** The entries of a list beyond the threshold of its post (seeds 0 and 2). Levels are in the order of their entries. */
export interface OverflowDoc {
  readonly _id: { readonly post: ObjectId; readonly kind: EngagementKind; readonly level: number }
  /** The position of the first entry that the level ever had. */
  readonly first: ObjectId
  readonly count: number
  readonly items: EngagementDoc[]
}

/**
 * An engagement of a user, written before its entry. So every entry has one of these. A document without an entry in
 * the post does not count.
 */
export interface EngagementByUserDoc {
  readonly _id: ObjectId
  readonly user: string
  readonly kind: EngagementKind
  readonly post: ObjectId
  readonly author: string
}

/**
 * The queues of jobs: QUICK for short jobs, BULK for long ones, RANGE for the ranges of split jobs. QUICK and the others
 * do not delay each other.
 */
export const queueNames = ['QUICK', 'BULK', 'RANGE'] as const
export type QueueName = (typeof queueNames)[number]

/** A job, inserted in the transaction of the write that caused it. */
export interface JobDoc {
  readonly _id: ObjectId
  /** The user whose documents its transaction writes, and whose shard it is on. Absent in jobs of the previous release. */
  readonly about?: string | null
  readonly kind: string
  readonly payload: Readonly<Record<string, unknown>>
  readonly state: 'READY' | 'PARKED'
  readonly queue: QueueName
  /** When the job is due. For a claimed job, when its lease ends. For a parked job, when it was parked. Server time. */
  readonly runAt: Date
  /** Raised by every start and end of a claim, so that a worker with an expired lease no longer matches. */
  readonly fence: number
  /** The name of the claim, until its lease is ended. Also set after the lease has expired. */
  readonly leased?: string
  readonly checkpoint?: unknown
  /** The number of tries since the last new checkpoint. */
  readonly attempts: number
  /** The error of the last failed try. */
  readonly error?: string
  /** The span of the write that made the job, as a W3C `traceparent`. Absent if the write was not traced. */
  readonly traceparent?: string
}

/** The first result of a mutation with a clientMutationId, of the viewer's account created at `since`. */
export interface IdempotencyKeyDoc {
  readonly _id: { readonly viewer: string; readonly since: Date; readonly id: string }
  /** SHA-256 of the mutation's name and input. */
  readonly fingerprint: Binary
  /** Flags and ids of the first result. Earlier releases also stored its texts. */
  readonly result: unknown
  readonly at: Date
}

/** The checkpoint of an import. */
export interface ImportDoc {
  readonly _id: string
  readonly [field: string]: unknown
}

/** The lock of all registrations. `meta` also holds the schema record and the lease of a migration. */
export interface MetaDoc {
  readonly _id: string
  readonly value: string
}

/** The version of a subject, see `db/versions.ts`. */
export interface VersionDoc {
  /** The subject. */
  readonly _id: string
  /** No version ever had it before. */
  readonly value: string
  readonly expiresAt: Date
}

/** What is left to a client of what it may use in a minute, see `db/rate-limits.ts`. */
export interface RateLimitDoc {
  /** SHA-256 of the client, in hex: neither an address nor a handle is stored. */
  readonly _id: string
  readonly cost?: number
  readonly mutations?: number
  /** When the numbers above were true, by the server's clock. */
  readonly at: Date
  /** When the client has all again, so that no document is the same as this one. */
  readonly expiresAt: Date
  /** Whether the last request was within each limit. */
  readonly hasMutations: boolean
  readonly hasCost: boolean
}
