import { randomUUID } from 'node:crypto'
import { createIdempotencyKey, type IdempotencyKey } from '../src/db/idempotency.ts'
import type { UserId } from '../src/lib/ids.ts'

/** A `clientMutationId` that the senders of loads replace with a new one each time. */
export const newIdEachTime = '[<id>]'

/**
 * The key of a mutation with a new `clientMutationId`, as documented clients send one with each
 * mutation.
 */
export const newKey = (viewer: UserId, mutation: string): IdempotencyKey | undefined =>
  createIdempotencyKey(viewer, mutation, { clientMutationId: randomUUID() })
