import { requestTimeout, singleBatch } from '../db/client.ts'
import type { Collections, HandleDoc, UserDoc } from '../db/collections.ts'
import { findAtOnce } from '../db/find-at-once.ts'
import { conforms } from '../db/shape.ts'
import { shapes } from '../db/shapes.ts'
import { shareFewKeys } from '../db/shared-reads.ts'
import type { Tx } from '../db/transaction.ts'
import { DomainError } from '../errors.ts'
import type { Handle, UserId } from '../lib/ids.ts'
import { keptBeside } from './former-handles.ts'
import type { ReservedNames } from './names.ts'
import type { UserStats } from './stats.ts'
import { isStandIn } from './subjects.ts'

const argument = 'input.handle'

/** An account that takes a handle. */
interface HandleClaim {
  readonly handle: Handle
  readonly account: UserId
}

/** A handle, and the document of the account that has or keeps it. */
interface HeldHandle {
  readonly handle: Handle
  readonly holder: UserDoc
}

/** The parts that {@link Handles} works with. */
interface HandlesParts {
  readonly collections: Pick<Collections, 'handles' | 'users'>
  readonly stats: Pick<UserStats, 'liveAmong'>
  readonly reserved: ReservedNames
  /** The database's clock, in milliseconds since 1970. */
  readonly now: () => number
}

/**
 * The handles of accounts. A document belongs to each, by its `_id`. So of concurrent claims of a
 * handle one wins, in all processes and on each shard. A handle that was given up stays with its
 * account until a time, and is free after it.
 */
export class Handles {
  private readonly loadDocs = shareFewKeys('handles', (handles: readonly Handle[]) =>
    findAtOnce(this.parts.collections.handles, { _id: { $in: [...handles] } }),
  )

  constructor(private readonly parts: HandlesParts) {}

  /**
   * The accounts that have handles now, or keep them. One command, which concurrent reads of few
   * handles share.
   */
  async findHolders(handles: readonly Handle[]): Promise<Map<Handle, UserId>> {
    if (handles.length === 0) return new Map()
    const asked = new Set<string>(handles)
    const held = (await this.loadDocs(handles)).filter(
      (doc) => asked.has(doc._id) && isWellFormed(doc) && !this.isFree(doc),
    )
    return new Map(held.map(({ _id, account }) => [_id as Handle, account as UserId]))
  }

  /** As {@link findHolders}, with the documents of the live accounts. One command. */
  async findHolderDocs(handles: readonly Handle[]): Promise<readonly HeldHandle[]> {
    const { collections } = this.parts
    const users = {
      from: collections.users.collectionName,
      localField: 'account',
      foreignField: '_id',
      pipeline: [{ $match: { deletedAt: { $exists: false } } }],
      as: 'holder',
    }
    const named = { _id: { $in: [...handles] }, account: { $type: 'string' as const } }
    const held = await collections.handles
      .aggregate<HandleDoc & { readonly holder: UserDoc }>(
        [{ $match: named }, { $lookup: users }, { $unwind: '$holder' }],
        { ...requestTimeout, ...singleBatch },
      )
      .toArray()
    return held
      .filter(({ holder: _, ...doc }) => isWellFormed(doc) && !this.isFree(doc))
      .map(({ _id, holder }) => ({ handle: _id as Handle, holder }))
  }

  /**
   * Whether a rename to a handle, or the creation of an account with it, succeeds now. One command,
   * and one more for an account that asks. One more if its document is not there.
   * @param asking the account, or what stands for a subject without one. Without: a new account.
   */
  async isAvailable(handle: Handle, asking: UserId | undefined): Promise<boolean> {
    const { collections, stats, reserved, now } = this.parts
    const doc = (await this.loadDocs([handle])).find(({ _id }) => _id === handle)
    const isHeld = doc !== undefined && !this.isFree(doc)
    const isFreeForAll = !isHeld && !reserved.hasHandle(handle)
    if (asking === undefined || isStandIn(asking)) return isFreeForAll
    const [own] = await findAtOnce(collections.users, { _id: asking })
    const isLost = own === undefined && (await stats.liveAmong([asking])).has(asking)
    if (isLost || (own && !conforms(shapes.users, own))) return false
    if (!own || own.deletedAt) return isFreeForAll
    // A rename to the handle that it has changes nothing, whatever the document of the handle says.
    if (own.handle === handle) return true
    if (isHeld && (!isWellFormed(doc) || doc.account !== asking)) return false
    const { isKept, refusal } = keptBeside(own, handle, now())
    return refusal === undefined && (isKept || !reserved.hasHandle(handle))
  }

  /** @throws {DomainError} FORBIDDEN for a handle that no account may take. */
  checkReserved(handle: Handle): void {
    if (!this.parts.reserved.hasHandle(handle)) return
    throw new DomainError('FORBIDDEN', `The handle "${handle}" is reserved`, { argument })
  }

  /**
   * Gives a handle to an account, in the transaction that also stores it in the account. Two
   * commands. One more if it belonged to another account.
   * @throws {DomainError} CONFLICT if it belongs to another account.
   */
  async claim(tx: Tx, handle: Handle, account: UserId): Promise<void> {
    const refusal = (await this.findRefusals(tx, [{ handle, account }])).get(handle)
    if (refusal) throw refusal
    await this.give(tx, [{ handle, account }])
  }

  /**
   * Which of several accounts cannot take their handles, as a transaction sees them: CONFLICT for
   * those of other accounts, also if the document of the handle or the account is malformed or
   * lost. One command. One more if some belong to other accounts.
   */
  async findRefusals(
    tx: Tx,
    claims: readonly HandleClaim[],
  ): Promise<ReadonlyMap<Handle, DomainError>> {
    const { handles, users } = this.parts.collections
    const options = { ...requestTimeout, ...singleBatch, session: tx.session }
    const claimants = new Map<string, UserId>(claims.map((claim) => [claim.handle, claim.account]))
    const docs = await handles.find({ _id: { $in: [...claimants.keys()] } }, options).toArray()
    const isOwn = (doc: HandleDoc) => doc.account === claimants.get(doc._id) && isWellFormed(doc)
    const taken = docs.filter((doc) => !isOwn(doc) && !this.isFree(doc))
    if (taken.length === 0) return new Map()
    const accounts = taken.flatMap((doc) => (isWellFormed(doc) ? doc.account : []))
    const leaving = { _id: { $in: accounts }, deletedAt: { $exists: true } }
    const removed = new Set(
      (await users.find(leaving, { ...options, projection: { _id: 1 } }).toArray()).map(
        ({ _id }) => _id,
      ),
    )
    return new Map(
      taken.map((doc) => [doc._id as Handle, takenBy(removed.has(doc.account), doc)] as const),
    )
  }

  /**
   * Gives handles to accounts, in the transaction that also stores them in the accounts. One
   * command.
   */
  async give({ session }: Tx, claims: readonly HandleClaim[]): Promise<void> {
    const writes = claims.map(({ handle, account }) => ({
      replaceOne: { filter: { _id: handle }, replacement: { account }, upsert: true },
    }))
    await this.parts.collections.handles.bulkWrite(writes, { session, ordered: false })
  }

  /**
   * Keeps a handle for the account that gives it up, until a time. Changes nothing if its document
   * names another account. One command.
   */
  async reserve({ session }: Tx, handle: Handle, account: UserId, until: Date): Promise<void> {
    const own = { $literal: account }
    const isOwn = { $eq: [{ $ifNull: ['$account', own] }, own] }
    const reserved = { _id: '$_id', account: own, until }
    const update = [{ $replaceWith: { $cond: [isOwn, reserved, '$$ROOT'] } }]
    const { handles } = this.parts.collections
    await handles.updateOne({ _id: handle }, update, { session, upsert: true })
  }

  /** Frees handles that belong to an account. A repeat changes nothing. One command. */
  async release(account: UserId, handles: readonly Handle[]): Promise<void> {
    const filter = { _id: { $in: [...handles] }, account }
    await this.parts.collections.handles.deleteMany(filter, requestTimeout)
  }

  private isFree(doc: HandleDoc): boolean {
    const { until } = doc
    return isWellFormed(doc) && until !== undefined && until.getTime() <= this.parts.now()
  }
}

const isWellFormed = (doc: HandleDoc): boolean => conforms(shapes.handles, doc)

function takenBy(isRemoved: boolean, { _id, until }: HandleDoc): DomainError {
  const reason = isRemoved
    ? `The deleted account "${_id}" is still being removed. Try again later.`
    : until
      ? `The handle "${_id}" is kept for the account that had it`
      : `The handle "${_id}" is taken`
  return new DomainError('CONFLICT', reason, { argument })
}
