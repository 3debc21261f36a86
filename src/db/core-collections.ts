import type { Binary } from 'mongodb'
import { collectionOf } from './collection-spec.ts'

/**
 * The first result of a mutation with a clientMutationId, of the viewer's account created at
 * `since`.
 */
export interface IdempotencyKeyDoc {
  readonly _id: { readonly viewer: string; readonly since: Date; readonly id: string }
  /** SHA-256 of the mutation's name and input. */
  readonly fingerprint: Binary
  /** Flags and ids of the first result. */
  readonly result: unknown
  readonly at: Date
}

/**
 * The lock of all registrations, or when a periodic job was queued last. `meta` also holds the
 * schema record and the lease of a migration.
 */
export interface MetaDoc {
  readonly _id: string
  readonly value: string
}

/** What is left to a client of what it may use in a minute, see `db/rate-limits.ts`. */
export interface RateLimitDoc {
  /** SHA-256 of the client, in hex: neither an address nor an account is stored. */
  readonly _id: string
  readonly cost?: number
  readonly mutations?: number
  /** When the numbers above were true, by the server's clock. */
  readonly at: Date
  /** When the client has all again, so that no document is the same as this one. */
  readonly expiresAt: Date
  /** Whether the last request was within each limit. */
  readonly hasMutations: boolean
  readonly hasCost: boolean
}

/** The checkpoint of an import. */
export interface ImportDoc {
  readonly _id: string
  readonly [field: string]: unknown
}

const dayS = 86_400

/** What every feature is built on, and what packages store. */
export const coreCollections = {
  imports: collectionOf<ImportDoc>()({ about: 'the progress of an import', indexes: [] }),
  idempotency_keys: collectionOf<IdempotencyKeyDoc>()({
    about:
      'the result of a mutation with a `clientMutationId`, for a day or until the account is deleted',
    indexes: [{ key: { at: 1 }, expireAfterSeconds: dayS }],
    shardKey: { _id: 1 },
    accountIn: { within: 'viewer' },
  }),
  rate_limits: collectionOf<RateLimitDoc>()({
    about: 'what is left to a client, with `RATE_LIMIT_STORE=mongodb`',
    indexes: [{ key: { expiresAt: 1 }, expireAfterSeconds: 0 }],
    shardKey: { _id: 'hashed' },
  }),
  meta: collectionOf<MetaDoc>()({
    about:
      'the schema version with `FOLLOWING`; the lock of registrations; the lease of a migration; when each periodic job was queued last',
    indexes: [],
  }),
}
