import { requestTimeout } from '../db/client.ts'
import type { Collections, UserDoc } from '../db/collections.ts'
import { writesSettleMs } from '../db/deadline.ts'
import { findAtOnce } from '../db/find-at-once.ts'
import type { FirstResult, IdempotencyKey } from '../db/idempotency.ts'
import { conforms } from '../db/shape.ts'
import { shapes } from '../db/shapes.ts'
import { shareFewKeys } from '../db/shared-reads.ts'
import type { Transactions, Tx } from '../db/transaction.ts'
import { changesOfAccounts, raiseVersions } from '../db/versions.ts'
import { badInput, checkAll, DomainError } from '../errors.ts'
import type { Outbox } from '../jobs/outbox.ts'
import type { UserId } from '../lib/ids.ts'
import { checkedText, type TextRules } from '../lib/text.ts'
import { checkedUrl } from '../lib/url.ts'
import { nameProblem, type ReservedNames } from './names.ts'
import { noAccount, type UserStats } from './stats.ts'

/** The fields of a profile that an account may lack. */
export const optionalFields = ['bio', 'avatarUrl', 'bannerUrl'] as const
type OptionalField = (typeof optionalFields)[number]

/** An account. */
export interface User extends Readonly<Partial<Record<OptionalField, string>>> {
  readonly handle: UserId
  readonly name: string
  readonly createdAt: Date
}

/** The profile of an account. An absent field is not changed. Null, or an empty text, removes it. */
export interface Profile extends Readonly<Partial<Record<OptionalField, string | null>>> {
  readonly name?: string | undefined
}

/** The rules of a display name. */
export const nameRules: TextRules = { form: 'line', graphemesMax: 64, bytesMax: 640 }
/** The rules of a bio. */
export const bioRules: TextRules = { form: 'lines', graphemesMax: 256, bytesMax: 2560 }

/** A deleted account that is still being removed. */
export interface Leaver {
  /** When the account was created. */
  readonly since: Date
  /** After this time, no write of the account is under way, in milliseconds. 0 or less: its writes are settled. */
  readonly settlesInMs: number
}

/** The parts that {@link Users} works with. */
export interface UsersParts {
  readonly collections: Pick<Collections, 'users' | 'versions'>
  readonly stats: UserStats
  readonly outbox: Outbox
  readonly transactions: Transactions
  readonly reserved: ReservedNames
  /** The database's clock, in milliseconds since 1970. */
  readonly now: () => number
}

/** The accounts. The handle is the `_id`. */
export class Users {
  private readonly loadDocs = shareFewKeys('users', (ids: readonly UserId[]) =>
    findAtOnce(this.parts.collections.users, hasAccount(ids)),
  )

  constructor(private readonly parts: UsersParts) {}

  /** The accounts among `ids`. One command, which concurrent reads of few accounts share. */
  async byIds(ids: readonly UserId[]): Promise<Map<UserId, User>> {
    const own = new Set<string>(ids)
    return usersIn((await this.loadDocs(ids)).filter(({ _id }) => own.has(_id)))
  }

  /**
   * Creates the account of `actor`. One transaction of three commands.
   * @returns the account. A repeat reads it again, with one command more, and returns undefined for a deleted account.
   * @throws {DomainError} FORBIDDEN for a reserved handle; CONFLICT if the handle has an account, or a deleted one that is still being removed;
   *   BAD_USER_INPUT.
   */
  async create(actor: UserId, profile: Profile & { name: string }): Promise<User>
  async create(
    actor: UserId,
    profile: Profile & { name: string },
    idempotencyKey: IdempotencyKey | undefined,
  ): Promise<User | undefined>
  async create(
    actor: UserId,
    profile: Profile & { name: string },
    idempotencyKey?: IdempotencyKey,
  ): Promise<User | undefined> {
    const { collections, stats, transactions, reserved, now } = this.parts
    if (reserved.has(actor)) throw new DomainError('FORBIDDEN', `The handle "${actor}" is reserved`)
    const { name, ...rest } = this.checkProfile(actor, profile)
    const doc: UserDoc = {
      _id: actor,
      name: name ?? actor,
      createdAt: new Date(now()),
      ...presentFields(rest),
    }
    const created = await transactions.run(async (tx) => {
      await this.mustBeFree(actor, tx)
      await collections.users.insertOne(doc, { session: tx.session })
      await stats.open(tx, [actor])
      return toUser(doc)
    }, idempotencyKey)
    return this.currentOf(created)
  }

  /**
   * Changes the given fields of the profile. A repeat changes nothing. One transaction of two commands.
   * @returns as {@link create}.
   * @throws {DomainError} NOT_FOUND without an account; BAD_USER_INPUT.
   */
  async update(
    actor: UserId,
    profile: Profile,
    idempotencyKey?: IdempotencyKey,
  ): Promise<User | undefined> {
    const changes = Object.entries(this.checkProfile(actor, profile)).map(([field, value]) => [
      field,
      value === null ? '$$REMOVE' : { $literal: value },
    ])
    const { collections, transactions } = this.parts
    const changed = await transactions.run(async (tx) => {
      const updated = await collections.users.findOneAndUpdate(
        { _id: actor, deletedAt: { $exists: false } },
        [{ $set: { ...Object.fromEntries(changes), _id: '$_id' } }],
        { session: tx.session, returnDocument: 'after' },
      )
      if (!updated) throw noAccount()
      await raiseVersions(collections, changesOfAccounts([actor]), tx)
      return toUser(updated)
    }, idempotencyKey)
    return this.currentOf(changed)
  }

  /**
   * Deletes the profile at once, and enqueues the removal of edges, posts and engagement in the same transaction.
   * The handle stays taken until that removal ends, for longer than a write of the account may be under way.
   * One transaction of four commands.
   * @returns false if there was no account.
   */
  async delete(actor: UserId, idempotencyKey?: IdempotencyKey): Promise<boolean> {
    const { collections, stats, outbox, transactions } = this.parts
    return transactions.run(async (tx) => {
      const removed = await collections.users.updateOne(
        { _id: actor, deletedAt: { $exists: false } },
        [{ $set: { deletedAt: '$$NOW' } }, { $unset: ['name', ...optionalFields] }],
        { session: tx.session },
      )
      if (removed.modifiedCount === 0) return false
      await stats.close(tx, [actor])
      await outbox.enqueue(tx, outbox.reactionsTo('user.deleted', { user: actor }))
      return true
    }, idempotencyKey)
  }

  /** When the deleted account of a handle was created, or undefined if none is still being removed. One command. */
  async leavingSince(handle: UserId, tx?: Tx): Promise<Date | undefined> {
    const options = { ...requestTimeout, ...tx, projection: { createdAt: 1 } }
    return (await this.parts.collections.users.findOne(leaving(handle), options))?.createdAt
  }

  /**
   * The deleted account of a handle, or undefined if none is still being removed. The first call begins the time after
   * which its writes are settled: by then the deletion is committed, and no other write of the account begins. One
   * command.
   */
  async settle(handle: UserId): Promise<Leaver | undefined> {
    const settled = { $add: ['$$NOW', writesSettleMs] }
    const account = await this.parts.collections.users.findOneAndUpdate(
      leaving(handle),
      [{ $set: { settlesAt: { $ifNull: ['$settlesAt', settled] } } }],
      {
        ...requestTimeout,
        returnDocument: 'after',
        projection: {
          createdAt: 1,
          settlesAt: { $subtract: ['$settlesAt', '$$NOW'] },
        },
      },
    )
    if (!account) return undefined
    // The database's clock may have been set back since.
    const settlesInMs = Math.min(Number(account.settlesAt), writesSettleMs)
    return { since: account.createdAt, settlesInMs }
  }

  /**
   * Frees the handle of a deleted account. Changes nothing if the handle has another owner, deleted or not. One command.
   * @param since when the deleted account was created.
   */
  async free(handle: UserId, since: Date): Promise<void> {
    await this.parts.collections.users.deleteOne({ ...leaving(handle), createdAt: since })
  }

  /** The given fields in their stored form. Sends no command. @throws {DomainError} BAD_USER_INPUT. */
  checkProfile(actor: UserId, { name, bio, avatarUrl, bannerUrl }: Profile): Profile {
    return checkAll({
      ...(name !== undefined && { name: () => this.checkName(actor, name) }),
      ...(bio !== undefined && { bio: () => (bio ? trimmed('input.bio', bio, bioRules) : null) }),
      ...(avatarUrl !== undefined && { avatarUrl: () => checkUrl('input.avatarUrl', avatarUrl) }),
      ...(bannerUrl !== undefined && { bannerUrl: () => checkUrl('input.bannerUrl', bannerUrl) }),
    })
  }

  /** The account of a result, which a repeat reads again. */
  private async currentOf(result: User | FirstResult<User>): Promise<User | undefined> {
    if (!('isRepeat' in result)) return result
    return (await this.byIds([result.handle])).get(result.handle)
  }

  /** The name in its stored form. The owner of a reserved handle, such as an imported account, may use its name. */
  private checkName(actor: UserId, name: string): string {
    const { reserved } = this.parts
    const checked = trimmed('input.name', name, nameRules)
    const problem = nameProblem(checked)
    if (problem) throw badInput('input.name', problem)
    if (reserved.has(checked) && !reserved.has(actor)) {
      throw badInput('input.name', 'is reserved, or looks like a reserved name')
    }
    return checked
  }

  private async mustBeFree(handle: UserId, tx: Tx): Promise<void> {
    const taken = await this.parts.collections.users.findOne(
      { _id: handle },
      { ...requestTimeout, session: tx.session },
    )
    if (!taken) return
    throw new DomainError(
      'CONFLICT',
      taken.deletedAt
        ? `The deleted account "${handle}" is still being removed. Try again later.`
        : `"${handle}" already has an account`,
    )
  }
}

/** The documents of the accounts among `ids`. */
export const hasAccount = (ids: readonly UserId[]) => ({
  _id: { $in: [...ids] },
  deletedAt: { $exists: false },
})

const leaving = (handle: UserId) => ({ _id: handle, deletedAt: { $exists: true } })

function trimmed(argument: string, given: string, rules: TextRules): string {
  const { text, problem } = checkedText(given.trim(), rules)
  if (problem !== undefined) throw badInput(argument, problem)
  return text
}

function checkUrl(argument: string, given: string | null): string | null {
  if (given === null || given === '') return null
  const { url, problem } = checkedUrl(given)
  if (problem !== undefined) throw badInput(argument, problem)
  return url
}

/** The optional fields that have a value. */
const presentFields = (profile: Pick<Profile, OptionalField>) =>
  Object.fromEntries(
    optionalFields.flatMap((field) => (profile[field] == null ? [] : [[field, profile[field]]])),
  ) as Pick<User, OptionalField>

/** The accounts of documents, by handle, without malformed documents. */
export const usersIn = (docs: readonly UserDoc[]): Map<UserId, User> =>
  new Map(
    docs.flatMap((doc) =>
      conforms(shapes.users, doc) ? [[doc._id as UserId, toUser(doc)] as const] : [],
    ),
  )

/** The account of a document. */
const toUser = ({ _id, name, createdAt, ...rest }: UserDoc): User => ({
  handle: _id as UserId,
  name: name ?? _id,
  createdAt,
  ...presentFields(rest),
})
