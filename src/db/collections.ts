import type { Collection, CollectionOptions, Db, IndexSpecification } from 'mongodb'
import type { FollowingMode } from '../config.ts'
import { kindsKeyedBy } from '../engagement/kinds.ts'
import type { CollectionSpec, IndexSpec } from './collection-spec.ts'
import type {
  EngagementByUserDoc,
  FollowEventDoc,
  FollowerDoc,
  FollowingDoc,
  IdempotencyKeyDoc,
  ImportDoc,
  JobDoc,
  MetaDoc,
  OverflowDoc,
  PostDoc,
  RateLimitDoc,
  RestrictionDoc,
  UserDoc,
  UserStatsDoc,
  VersionDoc,
} from './documents.ts'
import type { RegistryDocuments, TimelineDocuments } from './timeline-documents.ts'

export * from './collection-spec.ts'
export * from './documents.ts'
export * from './timeline-documents.ts'

/** The document type of each collection. */
export interface Documents extends TimelineDocuments, RegistryDocuments {
  users: UserDoc
  user_stats: UserStatsDoc
  followers: FollowerDoc
  following: FollowingDoc
  follow_events: FollowEventDoc
  restrictions: RestrictionDoc
  posts: PostDoc
  overflow: OverflowDoc
  engagements_by_user: EngagementByUserDoc
  outbox: JobDoc
  idempotency_keys: IdempotencyKeyDoc
  imports: ImportDoc
  rate_limits: RateLimitDoc
  versions: VersionDoc
  meta: MetaDoc
}
export type CollectionName = keyof Documents
export type Collections = {
  readonly [Name in CollectionName]: Collection<Documents[Name]>
}

const dayS = 86_400
const afterImport = true

/** One index per kind whose entries are found by id. The first one has the default name for the key. */
const entryIdIndexes = kindsKeyedBy('_id').map(
  (kind, at): IndexSpec => ({
    key: { '_id.post': 1, '_id.kind': 1, 'items._id': 1 },
    partialFilterExpression: { '_id.kind': kind },
    ...(at === 0 ? {} : { name: `entry_id_of_${kind}` }),
  }),
)

/** The groups of a user, by recency and for membership. An edge in no group has no entry. */
const groupIndexes = (owner: string, other: string): readonly IndexSpec[] => {
  const inGroup = { partialFilterExpression: { groups: { $exists: true } }, afterImport } as const
  return [
    {
      key: { [owner]: 1, groups: 1, _id: -1, [other]: 1, source: 1 },
      name: 'group_by_recency',
      ...inGroup,
    },
    { key: { [owner]: 1, groups: 1, [other]: 1 }, name: 'group_membership', ...inGroup },
  ]
}

/**
 * Every collection with its indexes and shard key. A change takes a migration.
 * An index whose definition changes gets a new name, so that it is built beside the old one.
 */
export const catalogue = (
  following: FollowingMode,
): Readonly<Record<CollectionName, CollectionSpec>> => ({
  users: { indexes: [], shardKey: { _id: 1 }, handleIn: 'whole' },
  user_stats: { indexes: [], shardKey: { _id: 1 }, handleIn: 'whole' },
  followers: {
    indexes: [
      { key: { user: 1, follower: 1 }, unique: true }, // an edge exists once; membership
      { key: { user: 1, _id: -1, follower: 1, source: 1 }, afterImport }, // the list by recency, covered
      ...(following === 'reverse-index'
        ? ([
            { key: { follower: 1, _id: -1, user: 1, source: 1 }, afterImport }, // the reverse index of FOLLOWING=reverse-index
            ...groupIndexes('follower', 'user'),
          ] as const)
        : []),
    ],
    // With the follower, because the followers of one celebrity may be more than one chunk can hold.
    shardKey: { user: 1, follower: 1 },
    handleIn: 'whole',
  },
  following: {
    indexes:
      following === 'collection'
        ? [
            { key: { user: 1, followee: 1 }, unique: true, afterImport },
            { key: { user: 1, _id: -1, followee: 1, source: 1 }, afterImport },
            ...groupIndexes('user', 'followee'),
          ]
        : [],
    shardKey: { user: 1 },
    handleIn: 'whole',
  },
  follow_events: {
    indexes: [
      { key: { user: 1, followee: 1, _id: 1, type: 1 } }, // the history of a pair, covered
      { key: { followee: 1 }, afterImport }, // the history of a deleted followee
    ],
    shardKey: { user: 1 },
    handleIn: 'whole',
  },
  restrictions: {
    indexes: [
      { key: { owner: 1, other: 1, kind: 1 }, unique: true }, // membership
      { key: { owner: 1, kind: 1, _id: -1, other: 1 } }, // the lists by recency, covered
    ],
    // With the other user, because a celebrity may be blocked by any number of users.
    shardKey: { owner: 1, other: 1 },
    handleIn: 'whole',
  },
  posts: {
    indexes: [
      { key: { author: 1, _id: -1 } }, // by author, and fan-out on read, covered
      { key: { _id: 1, author: 1 } }, // the existence and the authors of posts in a timeline, covered
    ],
    shardKey: { author: 1, _id: 1 },
    handleIn: 'whole',
  },
  overflow: {
    indexes: [
      { key: { '_id.post': 1, '_id.kind': 1, first: -1 } }, // the list in order, and the last level
      { key: { '_id.post': 1, '_id.kind': 1, 'items.actor': 1 } }, // membership
      ...entryIdIndexes,
    ],
    shardKey: { '_id.post': 'hashed' }, // the ids of new posts grow with time
  },
  engagements_by_user: {
    indexes: [
      { key: { user: 1, kind: 1, _id: -1, post: 1, author: 1 } }, // by recency, covered
    ],
    shardKey: { user: 1 },
    handleIn: 'whole',
  },
  timeline_cache: {
    indexes: [{ key: { expiresAt: 1 }, expireAfterSeconds: 0 }],
    shardKey: { _id: 1 },
    handleIn: 'whole',
  },
  timed_buckets: {
    indexes: [],
    shardKey: { _id: 1 },
    handleIn: { within: 'reader' },
  },
  sized_buckets: {
    indexes: [
      { key: { reader: 1, open: 1 }, unique: true, partialFilterExpression: { open: true } },
      { key: { reader: 1, newest: -1, oldest: 1 } }, // from the newest on
      { key: { reader: 1, oldest: 1, newest: 1 } }, // from the oldest on
    ],
    shardKey: { reader: 1 },
    handleIn: 'whole',
  },
  inbox: {
    indexes: [],
    clustered: true,
    shardKey: { _id: 1 },
    handleIn: { within: 'reader' },
  },
  strategies: { indexes: [] },
  celebrities: { indexes: [] },
  outbox: {
    indexes: [
      { key: { state: 1, queue: 1, runAt: 1 } }, // due jobs
      // waiting deliveries, which have no follower, and back-fills, which have neither author nor post
      { key: { kind: 1, 'payload.author': 1, 'payload.follower': 1, 'payload.post': 1 } },
    ],
    shardKey: { about: 1, _id: 1 },
    handleIn: 'whole',
  },
  idempotency_keys: {
    indexes: [{ key: { at: 1 }, expireAfterSeconds: dayS }],
    shardKey: { _id: 1 },
    handleIn: { within: 'viewer' },
  },
  imports: { indexes: [] },
  rate_limits: {
    indexes: [{ key: { expiresAt: 1 }, expireAfterSeconds: 0 }],
    shardKey: { _id: 'hashed' },
  },
  versions: {
    indexes: [{ key: { expiresAt: 1 }, expireAfterSeconds: 0 }],
    shardKey: { _id: 1 },
    handleIn: { after: ['account:', 'relations:', 'timeline:'] },
  },
  meta: { indexes: [] },
})

/** The names of all collections. */
export const collectionNames = Object.keys(catalogue('collection')) as CollectionName[]

/** The typed handles of all collections. */
export const openCollections = (db: Db, options: CollectionOptions = {}): Collections =>
  Object.fromEntries(
    collectionNames.map((name) => [name, db.collection(name, options)]),
  ) as unknown as Collections

/** An index's specification in the driver's own type. */
export const driverKey = (spec: IndexSpec): IndexSpecification => ({ ...spec.key })
