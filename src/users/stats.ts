import { atOnce } from '../db/client.ts'
import type { Collections } from '../db/collections.ts'
import type { Tx } from '../db/transaction.ts'
import { DomainError } from '../errors.ts'
import type { UserId } from '../lib/ids.ts'

/** How many people follow a user, how many the user follows, and how many posts they have. */
export interface Stats {
  readonly followers: number
  readonly following: number
  readonly posts: number
}

/** A difference to add to a user's counters. `guard` collides with every follow and post of the user. */
export type StatsChange = Partial<Stats> & { readonly guard?: 1 }

/** The answer to one who acts without an account. */
export const noAccount = (): DomainError =>
  new DomainError('NOT_FOUND', 'You have no account yet: create one with createUser')

/** The counters beside the edges (seed 3), which are also the mark of a live account (law L3). */
export class UserStats {
  constructor(private readonly stats: Collections['user_stats']) {}

  /** The counters of those of `ids` that are live. One command. */
  async byIds(ids: readonly UserId[]): Promise<Map<UserId, Stats>> {
    const found = await this.stats.find({ _id: { $in: [...ids] } }, atOnce).toArray()
    return new Map(
      found.map(({ _id, followers, following, posts }) => [
        _id as UserId,
        { followers, following, posts },
      ]),
    )
  }

  /** Which of `ids` are live accounts. One covered command. */
  async liveAmong(ids: readonly UserId[], tx?: Tx): Promise<Set<UserId>> {
    const found = await this.stats
      .find({ _id: { $in: [...ids] } }, { ...atOnce, ...tx, projection: { _id: 1 } })
      .toArray()
    return new Set(found.map(({ _id }) => _id as UserId))
  }

  /**
   * Sees that all of `users` are live; the first of them is the one who acts. One covered command.
   * @throws {DomainError} NOT_FOUND naming one that is not.
   */
  async mustBeLive(tx: Tx, users: readonly UserId[]): Promise<void> {
    const live = await this.liveAmong(users, tx)
    const missing = users.find((id) => !live.has(id))
    if (missing === undefined) return
    if (missing === users[0]) throw noAccount()
    throw new DomainError('NOT_FOUND', `There is no user "${missing}"`)
  }

  /**
   * Adds differences within the caller's transaction, and so collides with whatever else changes these accounts.
   * The first account is the one who acts. One command.
   * @throws {DomainError} NOT_FOUND naming an account that does not exist; the transaction must not commit then.
   */
  async change(tx: Tx, changes: ReadonlyMap<UserId, StatsChange>): Promise<void> {
    if ((await this.changeLive(tx, changes)) === changes.size) return
    await this.mustBeLive(tx, [...changes.keys()])
  }

  /**
   * Counts posts that the account's owner is about to make, and so collides with whatever else changes the account.
   * One command.
   * @returns the counters as they are then, or undefined without an account.
   */
  async countPosts(tx: Tx, id: UserId, count: number): Promise<Stats | undefined> {
    const counted = await this.stats.findOneAndUpdate(
      { _id: id },
      { $inc: { posts: count } },
      { session: tx.session, returnDocument: 'after' },
    )
    return counted ?? undefined
  }

  /** As {@link change}, passing over accounts that are gone. @returns how many were there. */
  async changeLive(tx: Tx, changes: ReadonlyMap<UserId, StatsChange>): Promise<number> {
    const operations = [...changes].map(([_id, change]) => ({
      updateOne: { filter: { _id }, update: { $inc: change } },
    }))
    return (await this.stats.bulkWrite(operations, { session: tx.session, ordered: false }))
      .matchedCount
  }

  /** Opens the account's counters. */
  async open(tx: Tx, id: UserId): Promise<void> {
    await this.stats.insertOne(
      { _id: id, followers: 0, following: 0, posts: 0 },
      { session: tx.session },
    )
  }

  /** Ends the account: every write that would add an edge or a post to it fails from here on. */
  async close(tx: Tx, id: UserId): Promise<void> {
    await this.stats.deleteOne({ _id: id }, { session: tx.session })
  }
}
