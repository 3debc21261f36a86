import { collectionOf } from '../db/collection-spec.ts'
import type { ObjectId } from '../db/mongo.ts'
import { date, id, list, object, text, whole } from '../db/shape.ts'
import { accountFacts, profileLeaves } from '../entities/account.ts'
import { namesOf, shapesOf, type ValuesOf } from '../entities/leaves.ts'

/** A handle that an account gave up, and that no other account may take until a time. */
export interface FormerHandle {
  readonly handle: string
  readonly until: Date
}

/**
 * An account. A deleted account has no profile, and keeps its handles and its subject until the
 * purge ends.
 */
export interface UserDoc extends ValuesOf<typeof profileLeaves> {
  readonly _id: string
  readonly handle: string
  readonly formerHandles?: readonly FormerHandle[]
  /** The key of its subject, see `subjectKey`. */
  readonly subject: string
  readonly name?: string
  readonly createdAt: Date
  readonly deletedAt?: Date
  /** When no write of a deleted account is under way any more. Absent before its removal begins. */
  readonly settlesAt?: Date
}

type AccountFacts = ValuesOf<typeof accountFacts>

/**
 * The counters of a live user. A deleted user has none. Every write that adds an edge or a post
 * changes this document, so such a write collides with a deletion or a block.
 */
export interface UserStatsDoc extends AccountFacts {
  readonly _id: string
  readonly followers: number
  readonly following: number
  readonly posts: number
  /** Raised by writes that change no counter but must collide with a follow. */
  readonly guard?: number
  /** The number of repairs of the counters, or of the counted edges. */
  readonly repairs?: number
  /**
   * The last batch of a large import that changed the followees. Absent: none, or no timeline was
   * stored.
   */
  readonly imported?: ObjectId
}

/** The account of a handle. */
export interface HandleDoc {
  readonly _id: string
  readonly account: string
  /** Set if the account gave it up: until then, no other account may take it. */
  readonly until?: Date
}

/** The account of the subject of tokens. */
export interface SubjectDoc {
  /** The issuer, a space, and the `sub`. */
  readonly _id: string
  /** "~" if the subject has none under this key, and is only held. */
  readonly account: string
  /**
   * Set if it is only held, for a removed account or one under another text of its issuer: until
   * then, it has no other.
   */
  readonly until?: Date
}

/** What rules of visibility know of a live account. */
export const accountFields: readonly ('_id' | keyof AccountFacts)[] = [
  '_id',
  ...namesOf(accountFacts),
]

declare const isComplete: unique symbol
/**
 * All {@link accountFields} of a live account. Only `stats.ts` makes one, so that no rule lacks a
 * field of it.
 */
export type Account = Pick<UserStatsDoc, '_id'> &
  AccountFacts & {
    readonly [isComplete]: true
  }

/** What accounts store. */
export const accountCollections = {
  users: collectionOf<UserDoc>()({
    about: 'an account; a deleted one has no profile',
    indexes: [],
    shardKey: { _id: 1 },
    accountIn: 'whole',
    shape: object(
      { _id: text, handle: text, subject: text, createdAt: date },
      {
        name: text,
        ...shapesOf(profileLeaves).optional,
        deletedAt: date,
        settlesAt: date,
        formerHandles: list(object({ handle: text, until: date })),
      },
    ),
  }),
  handles: collectionOf<HandleDoc>()({
    about: 'the account of a handle; one that was given up has `until`',
    indexes: [{ key: { until: 1 }, expireAfterSeconds: 0 }],
    shardKey: { _id: 'hashed' },
    shape: object({ _id: text, account: text }, { until: date }),
  }),
  subjects: collectionOf<SubjectDoc>()({
    about: 'the account of the issuer and the subject of tokens; one that is only held has `until`',
    indexes: [{ key: { until: 1 }, expireAfterSeconds: 0 }],
    shardKey: { _id: 'hashed' },
    shape: object({ _id: text, account: text }, { until: date }),
  }),
  user_stats: collectionOf<UserStatsDoc>()({
    about: 'the counters of a live user',
    indexes: [
      // the readers whose timelines an import has changed, covered
      { key: { _id: 1, imported: 1 }, partialFilterExpression: { imported: { $exists: true } } },
    ],
    shardKey: { _id: 1 },
    accountIn: 'whole',
    shape: object(
      { _id: text, followers: whole, following: whole, posts: whole },
      { ...shapesOf(accountFacts).optional, guard: whole, repairs: whole, imported: id },
    ),
  }),
}
