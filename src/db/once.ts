import { createHash } from 'node:crypto'
import { Binary } from 'mongodb'
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

/** The first results of mutations that carried a clientMutationId, kept for a day. */
export class Once {
  constructor(
    private readonly mutations: Collections['mutations'],
    private readonly now: () => number,
  ) {}

  /**
   * The first result under `key`, if a majority of the members has it: no failover takes it back. One command.
   * @param after also waits until a majority has everything that this session has seen.
   * @throws {DomainError} CONFLICT when the clientMutationId was used for another input.
   */
  async firstResult<T>(key: OnceKey, after?: Tx): Promise<{ readonly result: T } | undefined> {
    const readConcern = { level: 'majority' } as const
    const found = await this.mutations.findOne(idOf(key), { ...bounded, ...after, readConcern })
    return found ? resultFor<T>(key, found) : undefined
  }

  /** {@link firstResult} of several, as the caller's transaction sees them. One command, none without keys. */
  async firstResults<T>(
    keys: readonly (OnceKey | undefined)[],
    tx: Tx,
  ): Promise<readonly ({ readonly result: T } | DomainError | undefined)[]> {
    const ids = keys.flatMap((key) => (key ? [idOf(key)._id] : []))
    if (ids.length === 0) return keys.map(() => undefined)
    const found = await this.mutations
      .find({ _id: { $in: ids } }, { ...atOnce, session: tx.session })
      .toArray()
    const nameOf = ({ viewer, id }: MutationDoc['_id']) => JSON.stringify([viewer, id])
    const byName = new Map(found.map((doc) => [nameOf(doc._id), doc]))
    return keys.map((key) => {
      const doc = key && byName.get(nameOf(idOf(key)._id))
      if (!doc) return undefined
      try {
        return resultFor<T>(key, doc)
      } catch (error) {
        return error as DomainError
      }
    })
  }

  /** Keeps first results, exactly when the caller's transaction commits. One command, none without entries. */
  async remember(
    entries: readonly { readonly key: OnceKey; readonly result: unknown }[],
    tx: Tx,
  ): Promise<void> {
    if (entries.length === 0) return
    const at = new Date(this.now())
    await this.mutations.insertMany(
      entries.map(({ key, result }) => ({
        ...idOf(key),
        fingerprint: new Binary(key.fingerprint),
        result,
        at,
      })),
      { session: tx.session },
    )
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

const idOf = (key: OnceKey) => ({ _id: { viewer: key.viewer, id: key.clientMutationId } })

function resultFor<T>(key: OnceKey, { fingerprint, result }: MutationDoc): { result: T } {
  if (!key.fingerprint.equals(Buffer.from(fingerprint.buffer))) {
    throw conflict()
  }
  return { result: result as T }
}

const conflict = () =>
  new DomainError('CONFLICT', 'clientMutationId: was used for another mutation or another input', {
    argument: 'input.clientMutationId',
  })
