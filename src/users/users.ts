import { requestTimeout } from '../db/client.ts'
import type { Collections, UserDoc } from '../db/collections.ts'
import { writesSettleMs } from '../db/deadline.ts'
import { findAtOnce } from '../db/find-at-once.ts'
import type { FirstResult, IdempotencyKey } from '../db/idempotency.ts'
import { malformedData } from '../db/object-id.ts'
import { conforms } from '../db/shape.ts'
import { shapes } from '../db/shapes.ts'
import { shareFewKeys } from '../db/shared-reads.ts'
import type { Transactions, Tx } from '../db/transaction.ts'
import { profileLeaves } from '../entities/account.ts'
import { valuesOf } from '../entities/leaves.ts'
import { badInput, DomainError, refusalOf } from '../errors.ts'
import type { Outbox } from '../jobs/outbox.ts'
import { type Handle, mintUserId, parseHandle, type UserId } from '../lib/ids.ts'
import { keptBeside } from './former-handles.ts'
import type { Handles } from './handles.ts'
import type { ReservedNames } from './names.ts'
import { type AccountDraft, type Opened, openAccounts, openAll } from './open-accounts.ts'
import {
  checkProfile,
  hasAccount,
  isReservedName,
  type NewProfile,
  optionalFields,
  type Profile,
  toUser,
  type User,
  usersIn,
} from './profile.ts'
import { noAccount, type UserStats } from './stats.ts'
import type { Subject } from './subject.ts'
import { type Subjects, subjectKey, subjectOfKey } from './subjects.ts'

/** A new account with its handle and its subject. */
type Opening = NewProfile & { readonly handle: Handle; readonly subject: Subject }

/** A new account that is one of many. Its handle defaults to the `sub`, if that is a handle. */
export type Registration = NewProfile & {
  readonly subject: Subject
  readonly idempotencyKey?: IdempotencyKey | undefined
}

const dayMs = 86_400_000

/** What a deletion did. */
export interface Deleted {
  /** False if there was no account. */
  readonly changed: boolean
  /** Null if there was no account, or it states none that can be read. */
  readonly handle: Handle | null
}

/** The parts that {@link Users} works with. */
export interface UsersParts {
  readonly collections: Pick<Collections, 'users'>
  readonly stats: UserStats
  readonly outbox: Outbox
  readonly transactions: Transactions
  readonly reserved: ReservedNames
  readonly handles: Handles
  readonly subjects: Subjects
  /** How long an account keeps a handle that it gave up. */
  readonly handleReservedDays: number
  /** The database's clock, in milliseconds since 1970. */
  readonly now: () => number
}

/** The accounts. */
export class Users {
  private readonly loadDocs = shareFewKeys('users', (ids: readonly UserId[]) =>
    findAtOnce(this.parts.collections.users, hasAccount(ids)),
  )

  private readonly loadHolders = shareFewKeys('holders', (handles: readonly Handle[]) =>
    this.parts.handles.findHolderDocs(handles),
  )

  constructor(private readonly parts: UsersParts) {}

  /** The accounts among `ids`. One command, which concurrent reads of few accounts share. */
  async byIds(ids: readonly UserId[]): Promise<Map<UserId, User>> {
    const own = new Set<string>(ids)
    return usersIn((await this.loadDocs(ids)).filter(({ _id }) => own.has(_id)))
  }

  /**
   * The accounts that have handles now, or keep them: such an account has another handle. One
   * command, which concurrent reads of few handles share.
   */
  async byHandles(handles: readonly Handle[]): Promise<Map<Handle, User>> {
    const held = await this.loadHolders(handles)
    const users = usersIn(held.map(({ holder }) => holder))
    return new Map(
      held.flatMap(({ handle, holder }) => {
        const user = users.get(holder._id as UserId)
        return user ? [[handle, user] as const] : []
      }),
    )
  }

  /**
   * The subject of an account. Undefined without an account. One command, which concurrent reads of
   * few accounts share.
   */
  async subjectOf(account: UserId): Promise<Subject | undefined> {
    const docs = await this.loadDocs([account])
    const doc = docs.find(({ _id }) => _id === account)
    return doc && usersIn([doc]).size > 0 ? subjectOfKey(doc.subject) : undefined
  }

  /**
   * Creates the account of a subject, with a new id. Costs {@link create}, and one command.
   * @param profile its handle defaults to the `sub`, if that is a handle.
   * @returns as {@link create}.
   * @throws {DomainError} as {@link create}; CONFLICT if the subject has an account, or a deleted
   *   one that is still being removed.
   */
  async register(
    subject: Subject,
    { handle = parseHandle(subject.sub), ...profile }: NewProfile,
    idempotencyKey?: IdempotencyKey,
  ): Promise<User | undefined> {
    if (handle === undefined) throw handleRequired()
    checkProfile(this.parts.reserved, handle, profile)
    for (let isLast = false; ; isLast = true) {
      const owner = await this.parts.subjects.find(subject)
      const account = mintUserId()
      // A result belongs to the account, so that a repeat finds it there.
      const key = idempotencyKey && { ...idempotencyKey, viewer: owner ?? account }
      try {
        return await this.create(account, { ...profile, handle, subject }, key)
      } catch (error) {
        // The same request may have created it at the same time.
        const mayRace = error instanceof DomainError && error.code === 'CONFLICT'
        if (!mayRace || owner !== undefined || isLast) throw error
      } finally {
        this.parts.subjects.forget(subject)
      }
    }
  }

  /**
   * As {@link register} for a subject that has this account: only a repeat has a result. One
   * command, none without a key.
   * @throws {DomainError} CONFLICT.
   */
  async registerAgain(
    account: UserId,
    idempotencyKey: IdempotencyKey | undefined,
  ): Promise<User | undefined> {
    const key = idempotencyKey && { ...idempotencyKey, viewer: account }
    const first = key && (await this.parts.transactions.idempotency.savedResult<User>(key))
    if (!first) throw alreadyOpen()
    return this.currentOf(first.result)
  }

  /**
   * Creates an account. One transaction of seven commands.
   * @param account an id that no account ever had.
   * @returns the account. A repeat reads it again, with one command more, and returns undefined for
   *   a deleted account.
   * @throws {DomainError} FORBIDDEN for a reserved handle; CONFLICT if the handle or the subject
   *   has an account, or a deleted one that is still being removed; BAD_USER_INPUT.
   */
  async create(account: UserId, profile: Opening): Promise<User>
  async create(
    account: UserId,
    profile: Opening,
    idempotencyKey: IdempotencyKey | undefined,
  ): Promise<User | undefined>
  async create(
    account: UserId,
    opening: Opening,
    idempotencyKey?: IdempotencyKey,
  ): Promise<User | undefined> {
    const draft = this.draft(account, opening)
    const created = await this.parts.transactions.run(async (tx) => {
      const [result] = await openAccounts(tx, this.parts, [draft])
      if (result instanceof DomainError) throw result
      if (!result?.created) throw alreadyOpen()
      return toUser(draft.doc)
    }, idempotencyKey)
    return this.currentOf(created)
  }

  /**
   * Creates the accounts of subjects, each as {@link register} would. A subject that has an account
   * keeps it. Costs {@link openAll}.
   * @param registrations A DomainError is its own result. The result of each belongs to its
   *   account, so a repeat under the same idempotency key returns the first one, whatever `viewer`
   *   the key has.
   * @param idempotencyKey of all of them together, with two commands more. A repeat goes on with
   *   those that failed.
   * @returns the result of each, in order. A DomainError refuses this one alone: BAD_USER_INPUT
   *   also for the subject or the handle of an earlier one that is not refused.
   * @throws {DomainError} CONFLICT for a key of other registrations; UNAVAILABLE. Some may be
   *   created then.
   */
  async registerAll(
    registrations: readonly (Registration | DomainError)[],
    idempotencyKey?: IdempotencyKey,
  ): Promise<readonly (Opened | DomainError)[]> {
    if (idempotencyKey) await this.parts.transactions.idempotency.claim(idempotencyKey)
    const drafts = registrations.map((registration) =>
      registration instanceof DomainError ? registration : this.draftOrRefuse(registration),
    )
    return openAll(this.parts, refuseSame(drafts))
  }

  private draftOrRefuse({ idempotencyKey, ...opening }: Registration): AccountDraft | DomainError {
    try {
      const { handle = parseHandle(opening.subject.sub) } = opening
      if (handle === undefined) return handleRequired()
      return { ...this.draft(mintUserId(), { ...opening, handle }), idempotencyKey }
    } catch (error) {
      return refusalOf(error)
    }
  }

  /** @throws {DomainError} FORBIDDEN for a reserved handle; BAD_USER_INPUT. */
  private draft(account: UserId, { handle, subject, ...profile }: Opening): AccountDraft {
    this.parts.handles.checkReserved(handle)
    const { name, ...rest } = checkProfile(this.parts.reserved, handle, profile)
    const doc = {
      ...{ _id: account, handle, subject: subjectKey(subject), name: name ?? handle },
      ...{ createdAt: new Date(this.parts.now()), ...valuesOf(profileLeaves, rest) },
    }
    return { account, handle, subject, doc }
  }

  /**
   * Changes the given fields of the profile. A repeat changes nothing. One transaction of two
   * commands. Five more for another handle.
   * @returns as {@link create}.
   * @throws {DomainError} NOT_FOUND without an account, or if its document is malformed; FORBIDDEN
   *   for a reserved handle; CONFLICT if the handle belongs to another account, or this one keeps
   *   too many former handles; BAD_USER_INPUT.
   */
  async update(
    actor: UserId,
    { handle, ...profile }: Profile & { readonly handle?: Handle | undefined },
    idempotencyKey?: IdempotencyKey,
  ): Promise<User | undefined> {
    const { collections, transactions } = this.parts
    const checked = await this.checkUpdate(actor, { handle, ...profile })
    const changes = Object.entries(checked).map(([field, value]) => [
      field,
      value === null ? '$$REMOVE' : { $literal: value },
    ])
    const changed = await transactions.run(async (tx) => {
      if (handle !== undefined) await this.rename(tx, actor, handle)
      const updated = await collections.users.findOneAndUpdate(
        { _id: actor, deletedAt: { $exists: false } },
        [{ $set: { ...Object.fromEntries(changes), _id: '$_id' } }],
        { session: tx.session, returnDocument: 'after' },
      )
      if (!updated) throw noAccount()
      if (!conforms(shapes.users, updated)) throw malformedData()
      return toUser(updated)
    }, idempotencyKey)
    return this.currentOf(changed)
  }

  /**
   * Deletes the profile at once, and enqueues the removal of edges, posts and engagement in the
   * same transaction. Handles and subject stay taken until that removal ends, for longer than a
   * write of the account may be under way. One transaction of four commands.
   */
  async delete(actor: UserId, idempotencyKey?: IdempotencyKey): Promise<Deleted> {
    const { collections, stats, outbox, transactions } = this.parts
    const { changed, handle } = await transactions.run(async (tx): Promise<Deleted> => {
      const removed = await collections.users.findOneAndUpdate(
        { _id: actor, deletedAt: { $exists: false } },
        [{ $set: { deletedAt: '$$NOW' } }, { $unset: ['name', ...optionalFields] }],
        { session: tx.session },
      )
      if (!removed) return { changed: false, handle: null }
      await stats.close(tx, [actor])
      await outbox.enqueue(tx, outbox.reactionsTo('user.deleted', { user: actor }))
      return { changed: true, handle: readableHandleIn(removed) }
    }, idempotencyKey)
    return { changed, handle }
  }

  /**
   * After how many milliseconds no write of a deleted account is under way: 0 or less, if its
   * writes are settled. The first call begins that time: by then the deletion is committed, and no
   * other write of the account begins. One command.
   * @returns undefined if the account is removed.
   */
  async settle(user: UserId): Promise<number | undefined> {
    const settled = { $add: ['$$NOW', writesSettleMs] }
    const account = await this.parts.collections.users.findOneAndUpdate(
      leaving(user),
      [{ $set: { settlesAt: { $ifNull: ['$settlesAt', settled] } } }],
      {
        ...requestTimeout,
        returnDocument: 'after',
        projection: { settlesAt: { $subtract: ['$settlesAt', '$$NOW'] } },
      },
    )
    // The database's clock may have been set back since.
    return account ? Math.min(Number(account.settlesAt), writesSettleMs) : undefined
  }

  /**
   * Ends a deleted account, and frees its handles and its subject. A repeat changes nothing. Four
   * commands.
   */
  async free(account: UserId): Promise<void> {
    const { collections, handles, subjects } = this.parts
    const doc = await collections.users.findOne(leaving(account), requestTimeout)
    if (!doc) return
    await subjects.release(account, doc.subject)
    await handles.release(account, [doc.handle as Handle, ...formerIn(doc)])
    await collections.users.deleteOne(leaving(account), requestTimeout)
  }

  /**
   * The fields of a new account in their stored form. Sends no command. @throws {DomainError}
   * BAD_USER_INPUT.
   */
  checkProfile(profile: Profile): Profile {
    return checkProfile(this.parts.reserved, undefined, profile)
  }

  /**
   * The given fields of an account in their stored form. Sends no command, but one for a reserved
   * name.
   * @throws {DomainError} BAD_USER_INPUT.
   */
  async checkUpdate(
    actor: UserId,
    { handle, ...profile }: Profile & { readonly handle?: Handle | undefined },
  ): Promise<Profile> {
    const { reserved } = this.parts
    const isReserved = profile.name !== undefined && isReservedName(reserved, profile.name)
    const current = isReserved ? (await this.byIds([actor])).get(actor)?.handle : undefined
    return checkProfile(reserved, handle ?? current, profile)
  }

  /**
   * Gives an account another handle, and keeps the one before for it. Four commands; one if it has
   * the handle.
   */
  private async rename(tx: Tx, account: UserId, handle: Handle): Promise<void> {
    const { collections, handles, handleReservedDays, now } = this.parts
    const doc = await collections.users.findOne(
      { _id: account, deletedAt: { $exists: false } },
      { ...requestTimeout, session: tx.session },
    )
    if (!doc) throw noAccount()
    if (!conforms(shapes.users, doc)) throw malformedData()
    const before = doc.handle as Handle
    if (before === handle) return
    const { kept, isKept, refusal } = keptBeside(doc, handle, now())
    // What it keeps, it may take back.
    if (!isKept) handles.checkReserved(handle)
    const until = new Date(now() + handleReservedDays * dayMs)
    if (refusal) throw refusal
    await handles.claim(tx, handle, account)
    // An account that is damaged may state what is no handle.
    const isHandle = parseHandle(before) !== undefined
    if (isHandle) await handles.reserve(tx, before, account, until)
    const formerHandles = isHandle ? [...kept, { handle: before, until }] : kept
    await collections.users.updateOne(
      { _id: account },
      { $set: { handle, formerHandles } },
      { session: tx.session },
    )
  }

  /** The account of a result, which a repeat reads again. */
  private async currentOf(result: User | FirstResult<User>): Promise<User | undefined> {
    if (!('isRepeat' in result)) return result
    return (await this.byIds([result.id])).get(result.id)
  }
}

const leaving = (account: UserId) => ({ _id: account, deletedAt: { $exists: true } })

/** The former handles of an account, without those that are malformed. */
const formerIn = ({ formerHandles }: UserDoc): Handle[] =>
  Array.isArray(formerHandles) ? formerHandles.flatMap((former) => former?.handle ?? []) : []

const readableHandleIn = ({ handle }: UserDoc): Handle | null =>
  typeof handle === 'string' ? (handle as Handle) : null

/** Refuses each draft with the subject or the handle of an earlier one. */
function refuseSame(
  drafts: readonly (AccountDraft | DomainError)[],
): readonly (AccountDraft | DomainError)[] {
  const firsts = { subject: new Map<string, number>(), handle: new Map<string, number>() }
  return drafts.map((draft, at) => {
    if (draft instanceof DomainError) return draft
    const names = { subject: subjectKey(draft.subject), handle: draft.handle }
    for (const field of ['subject', 'handle'] as const) {
      const first = firsts[field].get(names[field])
      if (first !== undefined) return badInput(`input.${field}`, `is that of input.users.${first}`)
    }
    for (const field of ['subject', 'handle'] as const) firsts[field].set(names[field], at)
    return draft
  })
}

const alreadyOpen = (): DomainError => new DomainError('CONFLICT', 'You already have an account')

const handleRequired = (): DomainError =>
  badInput('input.handle', 'is required: the subject of the token is no handle')
