import { collectionOf, type IndexSpec } from '../db/collection-spec.ts'
import type { ObjectId } from '../db/mongo.ts'
import { count, id, list, object, type Shape, text, whole } from '../db/shape.ts'
import { type EngagementDoc, entryShape, entryShapes } from '../posts/collections.ts'
import { type EngagementKind, engagementKinds, kindsKeyedBy } from './kinds.ts'

/**
 * The entries of a list beyond the threshold of its post. Levels are in the order of their entries.
 */
export interface OverflowDoc {
  readonly _id: { readonly post: ObjectId; readonly kind: EngagementKind; readonly level: number }
  /** The position of the first entry that the level ever had. */
  readonly first: ObjectId
  readonly count: number
  readonly items: EngagementDoc[]
}

/**
 * An engagement of a user, written in the transaction of its entry. So every entry has one of
 * these. A document without an entry in the post does not count.
 */
export interface EngagementByUserDoc {
  readonly _id: ObjectId
  readonly user: string
  readonly kind: EngagementKind
  readonly post: ObjectId
  readonly author: string
}

/**
 * One index per kind whose entries are found by id. The first one has the default name for the key.
 */
const entryIdIndexes = kindsKeyedBy('_id').map(
  (kind, at): IndexSpec => ({
    key: { '_id.post': 1, '_id.kind': 1, 'items._id': 1 },
    partialFilterExpression: { '_id.kind': kind },
    ...(at === 0 ? {} : { name: `entry_id_of_${kind}` }),
  }),
)

const kind: Shape = { enum: engagementKinds }

/** What likes, comments and shares store beside the lists in posts. */
export const engagementCollections = {
  overflow: collectionOf<OverflowDoc>()({
    about: 'the entries of a list beyond the threshold of its post',
    indexes: [
      { key: { '_id.post': 1, '_id.kind': 1, first: -1 } }, // the list in order, and the last level
      { key: { '_id.post': 1, '_id.kind': 1, 'items.actor': 1 } }, // membership
      ...entryIdIndexes,
    ],
    shardKey: { '_id.post': 'hashed' }, // the ids of new posts grow with time
    shape: {
      ...object({
        _id: object({ post: id, kind, level: whole }),
        first: id,
        count,
        items: list(entryShape),
      }),
      anyOf: engagementKinds.map((of) => ({
        properties: {
          _id: { properties: { kind: { enum: [of] } } },
          items: list(entryShapes[of]),
        },
      })),
    },
  }),
  engagements_by_user: collectionOf<EngagementByUserDoc>()({
    about: 'an engagement of a user, valid if the list of the post agrees',
    indexes: [
      { key: { user: 1, kind: 1, _id: -1, post: 1, author: 1 } }, // by recency, covered
    ],
    shardKey: { user: 1 },
    accountIn: 'whole',
    shape: object({ _id: id, user: text, kind, post: id, author: text }),
    derived: true,
  }),
}
