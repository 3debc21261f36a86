import { singleBatch } from '../db/client.ts'
import {
  type Account,
  accountFields,
  type Collections,
  type UserStatsDoc,
} from '../db/collections.ts'
import { findAtOnce } from '../db/find-at-once.ts'
import { fieldsConform } from '../db/shapes.ts'
import { shareFewKeys } from '../db/shared-reads.ts'
import type { Tx } from '../db/transaction.ts'
import { accountFacts } from '../entities/account.ts'
import { type Fact, factOf } from '../entities/leaves.ts'
import { DomainError } from '../errors.ts'
import { groupBy } from '../lib/batch.ts'
import type { UserId } from '../lib/ids.ts'

/** The numbers of a user's followers, followees and posts. */
export interface Stats {
  readonly followers: number
  readonly following: number
  readonly posts: number
}

/**
 * A change to a user's counters. `guard` changes no counter, but collides with every follow and
 * post of the user.
 */
export type StatsChange = Partial<Stats> & { readonly guard?: 1 }

/** The counters in documents, by user, without malformed documents. */
export const statsIn = (docs: readonly UserStatsDoc[]): Map<UserId, Stats> =>
  new Map(
    docs.flatMap(({ _id, followers, following, posts }) => {
      const stats = { followers, following, posts }
      return fieldsConform('user_stats', stats) ? [[_id as UserId, stats] as const] : []
    }),
  )

const factRows = Object.entries<Fact>(accountFacts)
const withSoundFacts = (account: Account): Account => {
  const stored = account as Readonly<Record<string, unknown>>
  const facts = factRows.map(([name, row]) => [name, factOf(row, stored[name])])
  return { ...account, ...Object.fromEntries(facts) }
}

/** Accounts by user. */
export const accountsIn = (accounts: readonly Account[]): Map<UserId, Account> =>
  new Map(accounts.map((account) => [account._id as UserId, account]))

/**
 * The account of a user, if a transaction or another read has proven that it is live. Undefined if
 * rules know more of accounts than that: then the account must be read.
 */
export const provenAccount = (user: UserId): Account | undefined =>
  accountFields.every((name) => name === '_id') ? ({ _id: user } as unknown as Account) : undefined

/** The error for a viewer without an account. */
export const noAccount = (): DomainError =>
  new DomainError('NOT_FOUND', 'You have no account yet: create one with createUser')

/** The error for a follow of a viewer who follows the most users already. */
export const tooManyFollowees = (max: number): DomainError =>
  new DomainError('LIMIT_EXCEEDED', `You may follow at most ${max} users`, { limit: 'followees' })

/** The documents of users, of those that reads of several have shared. */
function among<Doc extends { readonly _id: string }>(
  ids: readonly UserId[],
  docs: readonly Doc[],
): readonly Doc[] {
  const own = new Set<string>(ids)
  return docs.filter(({ _id }) => own.has(_id))
}

/** The counters of accounts. Exactly the live accounts have them (law L3). */
export class UserStats {
  private readonly stats: Collections['user_stats']
  private readonly loadDocs = shareFewKeys('user_stats', (ids: readonly UserId[]) =>
    this.readDocs(ids),
  )
  private readonly loadAccounts = shareFewKeys('accounts', (ids: readonly UserId[]) =>
    this.readAccounts(ids),
  )

  constructor(collections: Pick<Collections, 'user_stats'>) {
    this.stats = collections.user_stats
  }

  /**
   * The counters of the live accounts among `ids`. One command, which concurrent reads of few users
   * share.
   */
  async byIds(ids: readonly UserId[], tx?: Tx): Promise<Map<UserId, Stats>> {
    return statsIn(among(ids, tx ? await this.readDocs(ids, tx) : await this.loadDocs(ids)))
  }

  /**
   * The live accounts among `ids`. One command, which concurrent reads of few users share. It is
   * covered, unless rules know more of accounts than that.
   */
  async liveAmong(ids: readonly UserId[], tx?: Tx): Promise<Map<UserId, Account>> {
    return accountsIn(
      among(ids, tx ? await this.readAccounts(ids, tx) : await this.loadAccounts(ids)),
    )
  }

  /**
   * Some live accounts at random. One command, which examines few documents of a large collection.
   */
  async sample(count: number): Promise<UserId[]> {
    const pipeline = [{ $sample: { size: count } }, { $project: { _id: 1 } }]
    const docs = await this.stats
      .aggregate<Pick<UserStatsDoc, '_id'>>(pipeline, singleBatch)
      .toArray()
    return docs.map(({ _id }) => _id as UserId)
  }

  private async readDocs(ids: readonly UserId[], tx?: Tx): Promise<UserStatsDoc[]> {
    return this.stats.find({ _id: { $in: [...ids] } }, { ...singleBatch, ...tx }).toArray()
  }

  private async readAccounts(ids: readonly UserId[], tx?: Tx): Promise<Account[]> {
    const filter = { _id: { $in: [...ids] } }
    const projection = Object.fromEntries(accountFields.map((name) => [name, 1]))
    const docs = tx
      ? await this.stats.find<Account>(filter, { ...singleBatch, ...tx, projection }).toArray()
      : await findAtOnce<UserStatsDoc, Account>(this.stats, filter, { projection })
    return factRows.length === 0 ? docs : docs.map(withSoundFacts)
  }

  /**
   * Checks that all of `users` are live accounts; the first is the viewer. One covered command.
   * @throws {DomainError} NOT_FOUND for a user without an account.
   */
  async mustBeLive(tx: Tx, users: readonly UserId[]): Promise<void> {
    const live = await this.liveAmong(users, tx)
    const missing = users.find((id) => !live.has(id))
    if (missing === undefined) return
    if (missing === users[0]) throw noAccount()
    throw new DomainError('NOT_FOUND', 'There is no such user')
  }

  /**
   * Changes counters in the caller's transaction, which so collides with other changes of these
   * accounts. The first account is the viewer's. One command.
   * @param followeesMax the most users that an account with a new follow may follow. Default: no
   *   limit.
   * @throws {DomainError} NOT_FOUND that names a user without an account; LIMIT_EXCEEDED beyond
   *   `followeesMax`. The transaction must not commit then.
   */
  async change(
    tx: Tx,
    changes: ReadonlyMap<UserId, StatsChange>,
    followeesMax?: number,
  ): Promise<void> {
    if ((await this.changeLive(tx, changes, followeesMax)) === changes.size) return
    await this.mustBeLive(tx, [...changes.keys()])
    if (followeesMax !== undefined) throw tooManyFollowees(followeesMax)
  }

  /**
   * Adds to the authors' numbers of posts, and so collides with other changes of the accounts, and
   * of their followers. One command, none without authors, and one more if one of several authors
   * has no account.
   * @returns those who have an account, with the counters of a single author as the transaction
   *   sees them.
   */
  async countPosts(
    tx: Tx,
    counts: ReadonlyMap<UserId, number>,
  ): Promise<ReadonlyMap<UserId, Pick<Stats, 'followers'> | undefined>> {
    const [[id, count] = [], ...others] = counts
    if (id === undefined) return new Map()
    if (others.length === 0) {
      const counted = await this.stats.findOneAndUpdate(
        { _id: id },
        { $inc: { posts: count ?? 0 } },
        { session: tx.session, returnDocument: 'after' },
      )
      return new Map(counted ? [[id, counted]] : [])
    }
    const authors = [...counts.keys()]
    const changes = new Map([...counts].map(([author, posts]) => [author, { posts }]))
    const areLive = (await this.changeLive(tx, changes)) === authors.length
    const live = areLive ? authors : (await this.liveAmong(authors, tx)).keys()
    return new Map([...live].map((author) => [author, undefined]))
  }

  /**
   * As {@link change}, but ignores users without an account.
   * @param followeesMax ignores also users that would follow more users than this. Default: none.
   * @returns the number of changed accounts.
   */
  async changeLive(
    tx: Tx,
    changes: ReadonlyMap<UserId, StatsChange>,
    followeesMax?: number,
  ): Promise<number> {
    // Equal changes share a statement, which takes the database a third of the time for each
    // account.
    const equal = groupBy(changes, ([, change]) => JSON.stringify(change))
    const operations = [...equal.values()].map((changed) => {
      const [[first, change]] = changed as [[UserId, StatsChange]]
      const isOne = changed.length === 1
      const _id = isOne ? first : { $in: changed.map(([id]) => id) }
      const filter =
        followeesMax !== undefined && (change.following ?? 0) > 0
          ? { _id, following: { $lte: followeesMax - (change.following ?? 0) } }
          : { _id }
      const statement = { filter, update: { $inc: change } }
      return isOne ? { updateOne: statement } : { updateMany: statement }
    })
    return (await this.stats.bulkWrite(operations, { session: tx.session, ordered: false }))
      .matchedCount
  }

  /**
   * Makes the transaction collide with all changes of the users' counters, as `lockedAgain` of
   * `db/collisions.ts` needs. One command, none without users.
   */
  async lock(tx: Tx, users: readonly UserId[]): Promise<void> {
    if (users.length === 0) return
    await this.changeLive(tx, new Map(users.map((user) => [user, { guard: 1 }])))
  }

  /**
   * Creates the counters of new accounts. One command.
   * @param counts what some of the counters begin with. Default: zero.
   */
  async open(
    tx: Tx,
    ids: readonly UserId[],
    counts?: ReadonlyMap<UserId, StatsChange>,
  ): Promise<void> {
    await this.stats.insertMany(
      ids.map((_id) => ({
        _id,
        followers: 0,
        following: 0,
        posts: 0,
        ...counts?.get(_id),
      })),
      { session: tx.session },
    )
  }

  /**
   * Deletes the counters of accounts: from now on, no write adds an edge or a post to them. One
   * command.
   */
  async close(tx: Tx, ids: readonly UserId[]): Promise<void> {
    await this.stats.deleteMany({ _id: { $in: [...ids] } }, { session: tx.session })
  }
}
