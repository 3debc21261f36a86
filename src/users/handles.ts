import { requestTimeout, singleBatch } from '../db/client.ts'
import type { Collections, HandleDoc, UserDoc } from '../db/collections.ts'
import { findAtOnce } from '../db/find-at-once.ts'
import { shareFewKeys } from '../db/shared-reads.ts'
import type { Tx } from '../db/transaction.ts'
import { DomainError } from '../errors.ts'
import type { Handle, UserId } from '../lib/ids.ts'
import type { ReservedNames } from './names.ts'

const argument = 'input.handle'

/** The parts that {@link Handles} works with. */
interface HandlesParts {
  readonly collections: Pick<Collections, 'handles' | 'users'>
  readonly reserved: ReservedNames
  /** The database's clock, in milliseconds since 1970. */
  readonly now: () => number
}

/**
 * The handles of accounts. A document belongs to each, by its `_id`. So of concurrent claims of a handle one wins, in all
 * processes and on each shard. A handle that was given up stays with its account until a time, and is free after it.
 */
export class Handles {
  private readonly loadDocs = shareFewKeys('handles', (handles: readonly Handle[]) =>
    findAtOnce(this.parts.collections.handles, { _id: { $in: [...handles] } }),
  )

  constructor(private readonly parts: HandlesParts) {}

  /** The accounts that have handles now. One command, which concurrent reads of few handles share. */
  async findOwners(handles: readonly Handle[]): Promise<Map<Handle, UserId>> {
    if (handles.length === 0) return new Map()
    const asked = new Set<string>(handles)
    const current = (await this.loadDocs(handles)).filter(({ until }) => until === undefined)
    return new Map(
      current
        .filter(({ _id }) => asked.has(_id))
        .map(({ _id, account }) => [_id as Handle, account as UserId]),
    )
  }

  /** The documents of the accounts that have handles now, or had them a moment ago. One command. */
  async findOwnerDocs(handles: readonly Handle[]): Promise<UserDoc[]> {
    const { collections } = this.parts
    const users = {
      from: collections.users.collectionName,
      localField: 'account',
      foreignField: '_id',
      pipeline: [{ $match: { deletedAt: { $exists: false } } }],
      as: 'owner',
    }
    const current = { _id: { $in: [...handles] }, until: { $exists: false } }
    return collections.handles
      .aggregate<UserDoc>(
        [
          { $match: current },
          { $lookup: users },
          { $unwind: '$owner' },
          { $replaceWith: '$owner' },
        ],
        { ...requestTimeout, ...singleBatch },
      )
      .toArray()
  }

  /** Whether an account could take a handle now. One command. @param account undefined: a new account. */
  async isAvailable(handle: Handle, account: UserId | undefined): Promise<boolean> {
    if (this.parts.reserved.has(handle)) return false
    const doc = (await this.loadDocs([handle])).find(({ _id }) => _id === handle)
    return doc === undefined || this.isFree(doc) || doc.account === account
  }

  /** @throws {DomainError} FORBIDDEN for a handle that no account may take. */
  checkReserved(handle: Handle): void {
    if (!this.parts.reserved.has(handle)) return
    throw new DomainError('FORBIDDEN', `The handle "${handle}" is reserved`, { argument })
  }

  /**
   * Gives a handle to an account, in the transaction that also stores it in the account. Two commands. Two more at most
   * if it belonged to an account that is gone.
   * @throws {DomainError} CONFLICT if it belongs to another account.
   */
  async claim({ session }: Tx, handle: Handle, account: UserId): Promise<void> {
    const { handles } = this.parts.collections
    const doc = await handles.findOne({ _id: handle }, { ...requestTimeout, session })
    if (!doc) {
      await handles.insertOne({ _id: handle, account }, { session })
      return
    }
    if (doc.account !== account && !this.isFree(doc)) await this.mustBeLost(doc, { session })
    await handles.replaceOne({ _id: handle }, { account }, { session })
  }

  /** Keeps a handle for the account that gives it up, until a time. One command. */
  async reserve({ session }: Tx, handle: Handle, account: UserId, until: Date): Promise<void> {
    const { handles } = this.parts.collections
    await handles.replaceOne({ _id: handle }, { account, until }, { session, upsert: true })
  }

  /** Frees handles that belong to an account. A repeat changes nothing. One command. */
  async release(account: UserId, handles: readonly Handle[]): Promise<void> {
    const filter = { _id: { $in: [...handles] }, account }
    await this.parts.collections.handles.deleteMany(filter, requestTimeout)
  }

  private isFree({ until }: HandleDoc): boolean {
    return until !== undefined && until.getTime() <= this.parts.now()
  }

  /** A process of an earlier release removes an account without its handle. @throws {DomainError} CONFLICT */
  private async mustBeLost({ _id, account, until }: HandleDoc, { session }: Tx): Promise<void> {
    const owner = await this.parts.collections.users.findOne(
      { _id: account },
      { ...requestTimeout, session },
    )
    if (!owner) return
    const reason = owner.deletedAt
      ? `The deleted account "${_id}" is still being removed. Try again later.`
      : until
        ? `The handle "${_id}" is kept for the account that had it`
        : `The handle "${_id}" is taken`
    throw new DomainError('CONFLICT', reason, { argument })
  }
}
