import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { Binary, type Filter, MaxKey, MinKey } from 'mongodb'
import { DomainError } from '../errors.ts'
import type { UserId } from '../lib/ids.ts'
import { requestTimeout, singleBatch } from './client.ts'
import type { Collections, IdempotencyKeyDoc } from './collections.ts'
import type { Tx } from './mongo.ts'

/** Makes a mutation take effect once (law L4). */
export interface IdempotencyKey {
  readonly viewer: UserId
  readonly clientMutationId: string
  /** SHA-256 of the mutation's name and input, whatever the order of the input's fields. */
  readonly fingerprint: Buffer
}

/**
 * A clientMutationId of a part of a mutation, or of another sender, which no client can send but by
 * a hash.
 */
export const deriveId = (clientMutationId: string, within: string): string =>
  createHash('sha256')
    .update(JSON.stringify([clientMutationId, within]))
    .digest('base64url')

interface MutationInput {
  readonly clientMutationId?: string | undefined
}

/**
 * Derives the key of a viewer's mutation. Undefined without a `clientMutationId`.
 * @param input without the empty values that mean the same as absent.
 */
export const createIdempotencyKey = (
  viewer: UserId,
  mutation: string,
  { clientMutationId, ...input }: MutationInput,
): IdempotencyKey | undefined => {
  if (clientMutationId === undefined) return undefined
  const fingerprint = createHash('sha256')
    .update(JSON.stringify([mutation, inOrder(input)]))
    .digest()
  return { viewer, clientMutationId, fingerprint }
}

/** The value with the fields of all objects in alphabetical order. */
function inOrder(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inOrder)
  // A date has no fields.
  if (typeof value !== 'object' || value === null || value instanceof Date) return value
  const fields = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1))
  return Object.fromEntries(fields.map(([name, field]) => [name, inOrder(field)]))
}

/**
 * The fields of results that are stored. A repeat reads the rest again, so that what was deleted
 * stays deleted.
 */
const storedFields = ['changed', 'id', 'author', 'handle', 'entry', '_id', 'actor'] as const
type StoredField = (typeof storedFields)[number]

/** A first result as a repeat finds it: flags and ids, and no text. */
export type FirstResult<T> = T extends object
  ? {
      readonly [Field in keyof T as Extract<Field, StoredField>]: Field extends 'entry'
        ? FirstResult<T[Field]>
        : T[Field]
    } & { readonly isRepeat: true }
  : T

/** What is stored of a result. */
function withoutTexts(result: unknown): unknown {
  if (typeof result !== 'object' || result === null) return result
  const fields = Object.entries(result).filter(([name]) =>
    (storedFields as readonly string[]).includes(name),
  )
  return Object.fromEntries(
    fields.map(([name, value]) => [name, name === 'entry' ? withoutTexts(value) : value]),
  )
}

/** Number of accounts of which a process keeps when they were created: about 2 MB. */
const createdMax = 10_000

/** Number of records that one batch removes. */
const removalBatchSize = 500

/** Watches and ends a removal of results. */
export interface ResultRemoval {
  readonly signal: AbortSignal
  /** Receives the number of removed records after each batch. */
  readonly onRemoved: (count: number) => Promise<void>
}

/**
 * Stores the first result of each mutation with a clientMutationId, for a day or until the account
 * is deleted. A mutation without an account leaves no record. A record also names when the account
 * was opened, which only a transaction that has read the account knows.
 */
export class IdempotencyStore {
  /**
   * When the accounts that a transaction read were created. None of them changes within the
   * transaction.
   */
  private readonly known = new WeakMap<Tx, Map<string, Date | undefined>>()
  /**
   * When accounts were created that this process has read. The id of an account is never given
   * again.
   */
  private readonly created = new LRUCache<string, Date>({ max: createdMax })

  constructor(
    private readonly collections: Pick<Collections, 'users' | 'idempotency_keys'>,
    private readonly now: () => number,
  ) {}

  /**
   * Loads the first result under `key`. A majority of the members has it, so no failover reverts
   * it. One command.
   * @param after a transaction. The read also waits until a majority has everything that its
   *   session has seen.
   * @throws {DomainError} CONFLICT if the clientMutationId was used for another mutation or input.
   */
  async savedResult<T>(
    key: IdempotencyKey,
    after?: Tx,
  ): Promise<{ readonly result: FirstResult<T> } | undefined> {
    const { viewer, clientMutationId } = key
    const id = { viewer: '$_id', since: '$createdAt', id: { $literal: clientMutationId } }
    const lookup = {
      from: 'idempotency_keys',
      localField: 'id',
      foreignField: '_id',
      as: 'records',
    }
    const [account] = await this.collections.users
      .aggregate<{ records: IdempotencyKeyDoc[] }>(
        [
          { $match: { _id: viewer } },
          { $project: { _id: 0, id } },
          { $lookup: lookup },
          { $project: { records: 1 } },
        ],
        { ...requestTimeout, ...after, readConcern: { level: 'majority' } },
      )
      .toArray()
    const [record] = account?.records ?? []
    return record ? resultFor<T>(key, record) : undefined
  }

  /**
   * Loads the first results under several keys, as the caller's transaction sees them, in order. A
   * CONFLICT is an item of the answer. Two commands: accounts, then records. No command without
   * keys.
   */
  async savedResults<T>(
    keys: readonly (IdempotencyKey | undefined)[],
    tx: Tx,
  ): Promise<readonly ({ readonly result: FirstResult<T> } | DomainError | undefined)[]> {
    const accounts = await this.accountsOf(keys, tx)
    const idOf = (key: IdempotencyKey | undefined) => key && recordId(key, accounts.get(key.viewer))
    const ids = keys.flatMap((key) => idOf(key) ?? [])
    if (ids.length === 0) return keys.map(() => undefined)
    const docs = await this.collections.idempotency_keys
      .find({ _id: { $in: ids } }, { ...singleBatch, session: tx.session })
      .toArray()
    const nameOf = ({ viewer, id }: IdempotencyKeyDoc['_id']) => JSON.stringify([viewer, id])
    const byName = new Map(docs.map((doc) => [nameOf(doc._id), doc]))
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
   * Keeps a key for a mutation whose parts have results of their own, so that no other input begins
   * under it. Also for a sender without an account, whose key ends after a day. Two commands.
   * @throws {DomainError} CONFLICT if the clientMutationId was used for another mutation or input.
   */
  async claim(key: IdempotencyKey): Promise<void> {
    const { users, idempotency_keys } = this.collections
    const projection = { createdAt: 1 }
    const account = await users.findOne({ _id: key.viewer }, { ...requestTimeout, projection })
    const since = account?.createdAt ?? new Date(0)
    const _id = { viewer: key.viewer, since, id: key.clientMutationId }
    const first = { fingerprint: new Binary(key.fingerprint), result: { changed: true } }
    const record = await idempotency_keys.findOneAndUpdate(
      { _id },
      { $setOnInsert: { ...first, at: new Date(this.now()) } },
      { ...requestTimeout, upsert: true, returnDocument: 'after' },
    )
    if (record) resultFor(key, record)
  }

  /**
   * Notes when the account of a viewer was opened, which the caller's transaction has proven. Saves
   * its read.
   */
  noteAccount(tx: Tx, viewer: UserId, createdAt: Date): void {
    this.accountsIn(tx).set(viewer, createdAt)
  }

  /**
   * Notes accounts that the caller's transaction has changed, or that exist and whose results
   * outlast the transaction if they are deleted before it ends. Saves the read of those that this
   * process has read before.
   */
  noteLive(tx: Tx, accounts: Iterable<UserId>): void {
    for (const account of accounts) {
      const createdAt = this.created.get(account)
      if (createdAt) this.noteAccount(tx, account, createdAt)
    }
  }

  /**
   * Saves flags and ids of first results under the accounts that the caller's transaction sees.
   * They exist if and only if it commits. Two commands: accounts, unless the transaction knows
   * them, then records. No command without entries.
   * @throws a duplicate key if a result is saved already. The transaction must not commit then.
   */
  async saveResults(
    entries: readonly { readonly key: IdempotencyKey; readonly result: unknown }[],
    tx: Tx,
  ): Promise<void> {
    const accounts = await this.accountsOf(
      entries.map(({ key }) => key),
      tx,
    )
    const at = new Date(this.now())
    const records = entries.flatMap(({ key, result }) => {
      const _id = recordId(key, accounts.get(key.viewer))
      const stored = withoutTexts(result)
      return _id ? [{ _id, fingerprint: new Binary(key.fingerprint), result: stored, at }] : []
    })
    if (records.length > 0) {
      await this.collections.idempotency_keys.insertMany(records, { session: tx.session })
    }
  }

  /**
   * Removes the records of a deleted account. A repeat removes the remaining records. Two commands
   * for each 500 records, and one more.
   */
  async removeResults(viewer: UserId, { signal, onRemoved }: ResultRemoval): Promise<void> {
    const { idempotency_keys } = this.collections
    const within = {
      $gte: { viewer, since: new MinKey(), id: new MinKey() },
      $lte: { viewer, since: new MaxKey(), id: new MaxKey() },
    }
    for (;;) {
      signal.throwIfAborted()
      const expired = await idempotency_keys
        .find({ _id: within } as unknown as Filter<IdempotencyKeyDoc>, {
          ...requestTimeout,
          projection: { _id: 1 },
        })
        .limit(removalBatchSize)
        .toArray()
      if (expired.length === 0) return
      await idempotency_keys.deleteMany(
        { _id: { $in: expired.map(({ _id }) => _id) } },
        requestTimeout,
      )
      await onRemoved(expired.length)
    }
  }

  private accountsIn(tx: Tx): Map<string, Date | undefined> {
    const known = this.known.get(tx) ?? new Map<string, Date | undefined>()
    this.known.set(tx, known)
    return known
  }

  /**
   * Loads when the account of each viewer of `keys` was created, as the transaction sees it.
   * One command, none if the transaction has read all of them.
   */
  private async accountsOf(
    keys: readonly (IdempotencyKey | undefined)[],
    tx: Tx,
  ): Promise<ReadonlyMap<string, Date | undefined>> {
    const createdAtOf = this.accountsIn(tx)
    const viewers = keys.flatMap((key) => (key && !createdAtOf.has(key.viewer) ? [key.viewer] : []))
    const unknown = [...new Set<string>(viewers)]
    if (unknown.length === 0) return createdAtOf
    for (const viewer of unknown) createdAtOf.set(viewer, undefined)
    const accounts = await this.collections.users
      .find(
        { _id: { $in: unknown } },
        { ...singleBatch, session: tx.session, projection: { createdAt: 1 } },
      )
      .toArray()
    for (const { _id, createdAt } of accounts) {
      createdAtOf.set(_id, createdAt)
      this.created.set(_id, createdAt)
    }
    return createdAtOf
  }
}

/**
 * A text that equal keys share: those of one viewer and clientMutationId, whatever the mutation.
 */
export const nameOfKey = ({ viewer, clientMutationId }: IdempotencyKey): string =>
  JSON.stringify([viewer, clientMutationId])

/**
 * Finds repeats within a batch.
 * @returns for each key, the position of the first equal key before it, or a CONFLICT if that key
 *   has another mutation or input. Undefined for a key that repeats none.
 */
export function findRepeats(
  keys: readonly (IdempotencyKey | undefined)[],
): readonly (number | DomainError | undefined)[] {
  const places = new Map<string, number>()
  return keys.map((key, at) => {
    if (!key) return undefined
    const name = nameOfKey(key)
    const before = places.get(name)
    if (before === undefined) places.set(name, at)
    return before === undefined || keys[before]?.fingerprint.equals(key.fingerprint)
      ? before
      : conflict()
  })
}

/** @returns undefined without an account. */
const recordId = (
  { viewer, clientMutationId: id }: IdempotencyKey,
  since: Date | undefined,
): IdempotencyKeyDoc['_id'] | undefined => (since ? { viewer, since, id } : undefined)

function resultFor<T>(
  key: IdempotencyKey,
  { fingerprint, result }: IdempotencyKeyDoc,
): { result: FirstResult<T> } {
  const first = Buffer.from(fingerprint.buffer)
  if (!key.fingerprint.equals(first)) throw conflict()
  const isObject = typeof result === 'object' && result !== null
  return { result: (isObject ? { ...result, isRepeat: true } : result) as FirstResult<T> }
}

const conflict = () =>
  new DomainError(
    'CONFLICT',
    'clientMutationId: already used for another mutation or another input',
    {
      argument: 'input.clientMutationId',
    },
  )
