import { collectionOf } from '../db/collection-spec.ts'
import type { ObjectId } from '../db/mongo.ts'
import { id, list, object, type Shape, set, text, whole } from '../db/shape.ts'
import { type EngagementKind, kinds, perKind } from '../engagement/kinds.ts'
import { namesOf, shapesOf, type ValuesOf } from '../entities/leaves.ts'
import { facetsShape, postLeaves, postParts } from '../entities/post.ts'
import type { PostRef } from '../lib/ids.ts'

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
  /**
   * Of a mention: the account that had the handle when the text was written; empty if none had it.
   */
  readonly account?: string
}

/** A like, comment or share, in its post or in overflow. It never moves. */
export interface EngagementDoc {
  readonly _id: ObjectId
  /**
   * The position in the list. Set only if an entry with a later `_id` was committed before.
   * Default: `_id`.
   */
  readonly place?: ObjectId
  readonly actor: string
  readonly text?: string
  /** Absent without a text. */
  readonly facets?: readonly FacetDoc[]
}

/** A number for each kind of engagement. An absent number is 0. */
export type PerKind = Readonly<Partial<Record<EngagementKind, number>>>

/** A post. Its `_id` contains its time and is its position in every timeline. */
export interface PostDoc
  extends Readonly<Partial<Record<EngagementKind, EngagementDoc[]>>>,
    ValuesOf<typeof postLeaves> {
  readonly _id: ObjectId
  readonly author: string
  /**
   * Absent if a repair removed malformed ones. They are found in the text then, and name no
   * accounts.
   */
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

type PostFactName = {
  [Name in keyof typeof postLeaves]: (typeof postLeaves)[Name] extends { fact: object }
    ? Name
    : never
}[keyof typeof postLeaves]

/** What rules of visibility know of an existing post. */
export const postFactFields: readonly ('_id' | 'author' | PostFactName)[] = [
  ...(['_id', 'author'] as const),
  ...(namesOf(postLeaves).filter((name) => 'fact' in postLeaves[name]) as PostFactName[]),
]

declare const isComplete: unique symbol
/**
 * An existing post with all {@link postFactFields}. Only `post.ts` makes one, so that no rule lacks
 * a field of it.
 */
export type PostFacts = PostRef &
  Readonly<Pick<PostDoc, PostFactName>> & {
    readonly [isComplete]: true
  }

const postShapes = shapesOf(postLeaves)
/** An entry of any list. */
export const entryShape = object({ _id: id, actor: text }, { place: id, text, facets: facetsShape })
const entryWithText = object({ _id: id, actor: text, text }, { place: id, facets: facetsShape })

/** The entries of each kind of list. */
export const entryShapes: Readonly<Record<EngagementKind, Shape>> = perKind((kind) =>
  kinds[kind].hasText ? entryWithText : entryShape,
)

/** What posts store. */
export const postCollections = {
  posts: collectionOf<PostDoc>()({
    about: 'a post with the first entries of its lists',
    indexes: [
      { key: { author: 1, _id: -1 } }, // by author, and fan-out on read, covered
      { key: { _id: 1, author: 1 } }, // the existence and the authors of posts in a timeline, covered
    ],
    shardKey: { author: 1, _id: 1 },
    accountIn: 'whole',
    shape: object(
      { _id: id, author: text, ...postShapes.required },
      {
        ...postShapes.optional,
        ...postParts,
        ...perKind((kind) => list(entryShapes[kind])),
        counts: object(
          {},
          perKind(() => whole),
        ),
        last: object(
          {},
          perKind(() => id),
        ),
        levels: object(
          {},
          perKind(() => whole),
        ),
        has_overflow: set,
        repairs: whole,
        guard: whole,
      },
    ),
  }),
}
