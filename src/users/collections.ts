import { collectionOf } from '../db/collection-spec.ts'
import { date, object, text, whole } from '../db/shape.ts'

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
  /**
   * The version of the set of followers. What changes the set gives it a value that no version had before. Absent: none
   * did since the account was opened by an earlier release.
   */
  readonly audience?: string
  /** Raised by writes that change no counter but must collide with a follow. */
  readonly guard?: number
  /** The number of repairs of the counters, or of the counted edges. */
  readonly repairs?: number
}

/** What rules of visibility know of a live account. With a further field, reads of accounts are no longer covered. */
export const accountFields = ['_id'] as const satisfies readonly (keyof UserStatsDoc)[]
export type Account = Readonly<Pick<UserStatsDoc, (typeof accountFields)[number]>>

/** What accounts store. */
export const accountCollections = {
  users: collectionOf<UserDoc>()({
    about: 'an account; a deleted one has no profile',
    indexes: [],
    shardKey: { _id: 1 },
    handleIn: 'whole',
    shape: object(
      { _id: text, createdAt: date },
      {
        name: text,
        bio: text,
        avatarUrl: text,
        bannerUrl: text,
        deletedAt: date,
        settlesAt: date,
      },
    ),
  }),
  user_stats: collectionOf<UserStatsDoc>()({
    about: 'the counters of a live user',
    indexes: [],
    shardKey: { _id: 1 },
    handleIn: 'whole',
    shape: object(
      { _id: text, followers: whole, following: whole, posts: whole },
      { audience: text, guard: whole, repairs: whole },
    ),
  }),
}
