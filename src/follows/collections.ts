import type { FollowingMode } from '../config.ts'
import { collectionOf, type IndexSpec } from '../db/collection-spec.ts'
import type { ObjectId } from '../db/mongo.ts'
import { date, id, list, object, type Shape, text, whole } from '../db/shape.ts'

/** The origin of an edge. */
export const edgeSources = ['FEEDLINE', 'TWITTER', 'FACEBOOK', 'MEDIUM', 'IMPORT'] as const
export type EdgeSource = (typeof edgeSources)[number]

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

/**
 * A mute or block between `owner` and `other`. A block has a mirror, so that each user finds it
 * under the own key.
 */
export interface RestrictionDoc {
  readonly _id: ObjectId
  readonly owner: string
  readonly other: string
  readonly kind: 'MUTE' | 'BLOCK' | 'BLOCKED_BY'
  /** The number of checks of this block by repairs. */
  readonly repairs?: number
}

const afterImport = true

/** The groups of a user, by recency and for membership. An edge in no group has no entry. */
const groupIndexes = (
  following: FollowingMode,
  owner: string,
  other: string,
): readonly IndexSpec[] => {
  const inGroup = {
    partialFilterExpression: { groups: { $exists: true } },
    afterImport,
    following,
  } as const
  return [
    {
      key: { [owner]: 1, groups: 1, _id: -1, [other]: 1, source: 1 },
      name: 'group_by_recency',
      ...inGroup,
    },
    { key: { [owner]: 1, groups: 1, [other]: 1 }, name: 'group_membership', ...inGroup },
  ]
}

const source: Shape = { enum: edgeSources }

/** What the graph stores. */
export const followCollections = {
  followers: collectionOf<FollowerDoc>()({
    about: 'an edge, found by its followee',
    indexes: [
      { key: { user: 1, follower: 1 }, unique: true }, // an edge exists once; membership
      { key: { user: 1, _id: -1, follower: 1, source: 1 }, afterImport }, // the list by recency, covered
      // the reverse index of FOLLOWING=reverse-index
      {
        key: { follower: 1, _id: -1, user: 1, source: 1 },
        afterImport,
        following: 'reverse-index',
      },
      ...groupIndexes('reverse-index', 'follower', 'user'),
    ],
    // With the follower, because the followers of one celebrity may be more than one chunk can
    // hold.
    shardKey: { user: 1, follower: 1 },
    accountIn: 'whole',
    shape: object({ _id: id, user: text, follower: text, source }, { groups: list(text) }),
  }),
  following: collectionOf<FollowingDoc>()({
    about: 'the same edge, found by its follower; none under `FOLLOWING=reverse-index`',
    indexes: [
      { key: { user: 1, followee: 1 }, unique: true, afterImport, following: 'collection' },
      { key: { user: 1, _id: -1, followee: 1, source: 1 }, afterImport, following: 'collection' },
      ...groupIndexes('collection', 'user', 'followee'),
    ],
    shardKey: { user: 1 },
    accountIn: 'whole',
    shape: object({ _id: id, user: text, followee: text, source }, { groups: list(text) }),
  }),
  follow_events: collectionOf<FollowEventDoc>()({
    about: 'the begin or end of an edge; `feedline history compact` removes old ones',
    indexes: [
      { key: { user: 1, followee: 1, _id: 1, type: 1 } }, // the history of a pair, covered
      { key: { followee: 1 }, afterImport }, // the history of a deleted followee
    ],
    shardKey: { user: 1 },
    accountIn: 'whole',
    shape: object(
      {
        _id: id,
        user: text,
        followee: text,
        source,
        at: date,
        type: { enum: ['FOLLOWED', 'UNFOLLOWED'] },
      },
      { cause: { enum: ['BLOCK'] } },
    ),
  }),
  restrictions: collectionOf<RestrictionDoc>()({
    about: 'a mute, or one side of a block',
    indexes: [
      { key: { owner: 1, other: 1, kind: 1 }, unique: true }, // membership
      { key: { owner: 1, kind: 1, _id: -1, other: 1 } }, // the lists by recency, covered
      { key: { other: 1 }, partialFilterExpression: { kind: 'MUTE' } }, // the mutes of a deleted user
    ],
    // With the other user, because a celebrity may be blocked by any number of users.
    shardKey: { owner: 1, other: 1 },
    accountIn: 'whole',
    shape: object(
      { _id: id, owner: text, other: text, kind: { enum: ['MUTE', 'BLOCK', 'BLOCKED_BY'] } },
      { repairs: whole },
    ),
  }),
}
