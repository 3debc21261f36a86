import type {
  Binary,
  Collection,
  CollectionOptions,
  Db,
  IndexSpecification,
  ObjectId,
} from 'mongodb'
import type { EngagementKind, FollowingMode } from '../config.ts'

/** Where an edge came from (seed 3). */
export const edgeSources = ['FEEDLINE', 'TWITTER', 'FACEBOOK', 'IMPORT'] as const
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

/** A piece of work that was promised together with the write that caused it. */
export interface JobDoc {
  readonly _id: ObjectId
  readonly kind: string
  readonly payload: Readonly<Record<string, unknown>>
  readonly state: 'READY' | 'PARKED'
  /** Not to be claimed before; while claimed, when the lease ends; once parked, since when. Server time. */
  readonly runAt: Date
  /** Rises with every claim and whatever ends one: a worker whose lease is over no longer matches. */
  readonly fence: number
  readonly checkpoint?: unknown
  /** Tries begun since the checkpoint last moved. */
  readonly attempts: number
  /** What the last try that failed threw. */
  readonly error?: string
}

/** The first result of a mutation that carried a clientMutationId. */
export interface MutationDoc {
  readonly _id: { readonly viewer: string; readonly id: string }
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

export interface Documents {
  users: UserDoc
  user_stats: UserStatsDoc
  followers: FollowerDoc
  following: FollowingDoc
  follow_events: FollowEventDoc
  restrictions: RestrictionDoc
  posts: PostDoc
  overflow: OverflowDoc
  engaged: EngagedDoc
  outbox: JobDoc
  mutations: MutationDoc
  imports: ImportDoc
  meta: MetaDoc
}
export type CollectionName = keyof Documents
export type Collections = { readonly [Name in CollectionName]: Collection<Documents[Name]> }

/** One index: what it is for stands beside it. */
export interface IndexSpec {
  readonly key: Readonly<Record<string, 1 | -1>>
  readonly unique?: true
  /** Only documents that match are in it. */
  readonly partialFilterExpression?: Readonly<Record<string, string>>
  readonly expireAfterSeconds?: number
}

/** How a collection is found and, on a sharded cluster, split. */
export interface CollectionSpec {
  readonly indexes: readonly IndexSpec[]
  /** Undefined: small, or walked by workers alone; left on one shard. */
  readonly shardKey?: Readonly<Record<string, 1>>
}

const dayS = 86_400

/** Every collection with its indexes and shard key: the whole physical design on one screen. */
export const catalogue = (
  following: FollowingMode,
): Readonly<Record<CollectionName, CollectionSpec>> => ({
  users: { indexes: [], shardKey: { _id: 1 } },
  user_stats: { indexes: [], shardKey: { _id: 1 } },
  followers: {
    indexes: [
      { key: { user: 1, follower: 1 }, unique: true }, // an edge exists once; membership
      { key: { user: 1, _id: -1, follower: 1, source: 1 } }, // the list by recency, covered
      ...(following === 'reverse-index'
        ? ([
            { key: { follower: 1, _id: -1, user: 1, source: 1 } }, // seed 4's reverse index
            { key: { follower: 1, groups: 1, _id: -1, user: 1, source: 1 } }, // a group by recency
            { key: { follower: 1, groups: 1, user: 1 } }, // membership in a group
          ] as const)
        : []),
    ],
    shardKey: { user: 1 },
  },
  following: {
    indexes:
      following === 'collection'
        ? [
            { key: { user: 1, followee: 1 }, unique: true },
            { key: { user: 1, _id: -1, followee: 1, source: 1 } },
            { key: { user: 1, groups: 1, _id: -1, followee: 1, source: 1 } },
            { key: { user: 1, groups: 1, followee: 1 } },
          ]
        : [],
    shardKey: { user: 1 },
  },
  follow_events: {
    indexes: [
      { key: { user: 1, followee: 1, _id: 1 } }, // the history of a pair
      { key: { followee: 1 } }, // what a deleted user leaves behind
    ],
    shardKey: { user: 1 },
  },
  restrictions: {
    indexes: [
      { key: { owner: 1, other: 1, kind: 1 }, unique: true }, // membership
      { key: { owner: 1, kind: 1, _id: -1, other: 1 } }, // the lists by recency, covered
    ],
    shardKey: { owner: 1 },
  },
  posts: {
    indexes: [{ key: { author: 1, _id: -1 } }], // by author, and fan-out on read, covered
    shardKey: { author: 1, _id: 1 },
  },
  overflow: {
    indexes: [
      { key: { '_id.post': 1, '_id.kind': 1, first: -1 } }, // the walk, and the last level
      { key: { '_id.post': 1, '_id.kind': 1, 'items.actor': 1 } }, // membership
      {
        key: { '_id.post': 1, '_id.kind': 1, 'items._id': 1 }, // a comment by its id
        partialFilterExpression: { '_id.kind': 'comments' },
      },
    ],
    shardKey: { '_id.post': 1 },
  },
  engaged: {
    indexes: [
      { key: { user: 1, kind: 1, _id: -1, post: 1, author: 1 } }, // by recency, covered
    ],
    shardKey: { user: 1 },
  },
  outbox: { indexes: [{ key: { state: 1, runAt: 1 } }] },
  mutations: { indexes: [{ key: { at: 1 }, expireAfterSeconds: dayS }], shardKey: { _id: 1 } },
  imports: { indexes: [] },
  meta: { indexes: [] },
})

const names = Object.keys(catalogue('collection')) as CollectionName[]

/** The typed handles of all collections. */
export const openCollections = (db: Db, options: CollectionOptions = {}): Collections =>
  Object.fromEntries(
    names.map((name) => [name, db.collection(name, options)]),
  ) as unknown as Collections

/** An index's specification in the driver's own type. */
export const driverKey = (spec: IndexSpec): IndexSpecification => ({ ...spec.key })
