import { createHash } from 'node:crypto'
import { Binary, type Filter, MaxKey, MinKey } from 'mongodb'
import { DomainError } from '../errors.ts'
import type { UserId } from '../lib/ids.ts'
import { atOnce, bounded } from './client.ts'
import type { Collections, MutationDoc } from './collections.ts'
import type { Tx } from './transaction.ts'

/** What makes a mutation take effect once (law L4). */
export interface OnceKey {
  readonly viewer: UserId
  readonly clientMutationId: string
  /** SHA-256 of the mutation's name and input. */
  readonly fingerprint: Buffer
}

/** The key of one mutation of one viewer, or undefined without a `clientMutationId`. */
export const onceKey = (
  viewer: UserId,
  mutation: string,
  { clientMutationId, ...input }: { clientMutationId?: string | undefined },
): OnceKey | undefined =>
  clientMutationId === undefined
    ? undefined
    : {
        viewer,
        clientMutationId,
        fingerprint: createHash('sha256')
          .update(JSON.stringify([mutation, input]))
          .digest(),
      }

/** Which records of an account are removed together. */
const purgeBatch = 500

/** How a purge is watched and ended. */
export interface OncePurgeRun {
  readonly signal: AbortSignal
  /** Told after each batch how many records it removed. */
  readonly onRemoved: (count: number) => Promise<void>
}

/**
 * The first results of mutations that carried a clientMutationId, kept for a day or until the account ends. A record
 * belongs to an account, not to its handle: the next owner of the handle starts with none. Without an account nothing
 * is kept.
 */
export class Once {
  /** The accounts that a transaction has read: none of them ends or begins anew within it. */
  private readonly known = new WeakMap<Tx, Map<string, Date | undefined>>()

  constructor(
    private readonly collections: Pick<Collections, 'users' | 'mutations'>,
    private readonly now: () => number,
  ) {}

  /**
   * The first result under `key`, if a majority of the members has it: no failover takes it back. One command.
   * @param after also waits until a majority has everything that this session has seen.
   * @throws {DomainError} CONFLICT when the clientMutationId was used for another input.
   */
  async firstResult<T>(key: OnceKey, after?: Tx): Promise<{ readonly result: T } | undefined> {
    const { viewer, clientMutationId } = key
    const id = { viewer: '$_id', since: '$createdAt', id: { $literal: clientMutationId } }
    const lookup = { from: 'mutations', localField: 'id', foreignField: '_id', as: 'records' }
    const [found] = await this.collections.users
      .aggregate<{ records: MutationDoc[] }>(
        [
          { $match: { _id: viewer } },
          { $project: { _id: 0, id } },
          { $lookup: lookup },
          { $project: { records: 1 } },
        ],
        { ...bounded, ...after, readConcern: { level: 'majority' } },
      )
      .toArray()
    const [record] = found?.records ?? []
    return record ? resultFor<T>(key, record) : undefined
  }

  /**
   * {@link firstResult} of several, as the caller's transaction sees them. Two commands: accounts, then records; none
   * without keys.
   */
  async firstResults<T>(
    keys: readonly (OnceKey | undefined)[],
    tx: Tx,
  ): Promise<readonly ({ readonly result: T } | DomainError | undefined)[]> {
    const accounts = await this.accountsOf(keys, tx)
    const idOf = (key: OnceKey | undefined) => key && recordId(key, accounts.get(key.viewer))
    const ids = keys.flatMap((key) => idOf(key) ?? [])
    if (ids.length === 0) return keys.map(() => undefined)
    const found = await this.collections.mutations
      .find({ _id: { $in: ids } }, { ...atOnce, session: tx.session })
      .toArray()
    const nameOf = ({ viewer, id }: MutationDoc['_id']) => JSON.stringify([viewer, id])
    const byName = new Map(found.map((doc) => [nameOf(doc._id), doc]))
    return keys.map((key) => {
      const id = idOf(key)
      const doc = id && byName.get(nameOf(id))
      if (!key || !doc) return undefined
      try {
        return resultFor<T>(key, doc)
      } catch (error) {
        return error as DomainError
      }
    })
  }

  /**
   * Keeps first results under the accounts that the caller's transaction sees, exactly when it commits. Two commands:
   * accounts, unless {@link firstResults} has read them, then records; none without entries.
   */
  async remember(
    entries: readonly { readonly key: OnceKey; readonly result: unknown }[],
    tx: Tx,
  ): Promise<void> {
    const accounts = await this.accountsOf(
      entries.map(({ key }) => key),
      tx,
    )
    const at = new Date(this.now())
    const records = entries.flatMap(({ key, result }) => {
      const _id = recordId(key, accounts.get(key.viewer))
      return _id ? [{ _id, fingerprint: new Binary(key.fingerprint), result, at }] : []
    })
    if (records.length > 0) {
      await this.collections.mutations.insertMany(records, { session: tx.session })
    }
  }

  /**
   * Removes the records of a deleted account whose handle is still taken, and of accounts that had the handle before.
   * A worker that was held up until the handle had its next owner removes nothing of theirs. A repeat goes on where it
   * ended. Two commands for each 500 records, and two more.
   */
  async purge(viewer: UserId, { signal, onRemoved }: OncePurgeRun): Promise<void> {
    const { users, mutations } = this.collections
    const leaving = { _id: viewer, deletedAt: { $exists: true } }
    const account = await users.findOne(leaving, { ...bounded, projection: { createdAt: 1 } })
    if (!account) return
    const within = {
      $gte: { viewer, since: new MinKey(), id: new MinKey() },
      $lte: { viewer, since: account.createdAt, id: new MaxKey() },
    }
    for (;;) {
      signal.throwIfAborted()
      const found = await mutations
        .find({ _id: within } as unknown as Filter<MutationDoc>, {
          ...bounded,
          projection: { _id: 1 },
        })
        .limit(purgeBatch)
        .toArray()
      if (found.length === 0) return
      await mutations.deleteMany({ _id: { $in: found.map(({ _id }) => _id) } }, bounded)
      await onRemoved(found.length)
    }
  }

  /** Since when each viewer of `keys` has an account, as the transaction sees it. One command where one is not known yet. */
  private async accountsOf(
    keys: readonly (OnceKey | undefined)[],
    tx: Tx,
  ): Promise<ReadonlyMap<string, Date | undefined>> {
    const known = this.known.get(tx) ?? new Map<string, Date | undefined>()
    this.known.set(tx, known)
    const viewers = keys.flatMap((key) => (key && !known.has(key.viewer) ? [key.viewer] : []))
    const unknown = [...new Set<string>(viewers)]
    if (unknown.length === 0) return known
    for (const viewer of unknown) known.set(viewer, undefined)
    const found = await this.collections.users
      .find(
        { _id: { $in: unknown } },
        { ...atOnce, session: tx.session, projection: { createdAt: 1 } },
      )
      .toArray()
    for (const { _id, createdAt } of found) known.set(_id, createdAt)
    return known
  }
}

/**
 * For each key, where the one that it repeats stands among those before it; or a CONFLICT, when that is another
 * mutation or has another input.
 */
export function repeatsAmong(
  keys: readonly (OnceKey | undefined)[],
): readonly (number | DomainError | undefined)[] {
  const places = new Map<string, number>()
  return keys.map((key, at) => {
    if (!key) return undefined
    const name = JSON.stringify([key.viewer, key.clientMutationId])
    const before = places.get(name)
    if (before === undefined) places.set(name, at)
    return before === undefined || keys[before]?.fingerprint.equals(key.fingerprint)
      ? before
      : conflict()
  })
}

/** @returns undefined without an account. */
const recordId = (
  { viewer, clientMutationId: id }: OnceKey,
  since: Date | undefined,
): MutationDoc['_id'] | undefined => (since ? { viewer, since, id } : undefined)

function resultFor<T>(key: OnceKey, { fingerprint, result }: MutationDoc): { result: T } {
  if (!key.fingerprint.equals(Buffer.from(fingerprint.buffer))) {
    throw conflict()
  }
  return { result: result as T }
}

const conflict = () =>
  new DomainError(
    'CONFLICT',
    'clientMutationId: already used for another mutation or another input',
    {
      argument: 'input.clientMutationId',
    },
  )
