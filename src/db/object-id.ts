import { ObjectId } from 'mongodb'
import { DomainError } from '../errors.ts'
import type { TimeId } from '../lib/ids.ts'

/**
 * Converts an id into its stored form. Takes only parsed ids, because `new ObjectId(null)` makes a
 * new id.
 */
export const toObjectId = (id: TimeId): ObjectId => ObjectId.createFromHexString(id)

/** The error of a request that needs a document of another shape than `db/shapes.ts` says. */
export const malformedData = (cause?: unknown): DomainError =>
  new DomainError(
    'NOT_FOUND',
    'What is stored of this object cannot be read. The operator of the server finds it with "feedline verify".',
    { cause },
  )

/** Whether a stored value is an id. */
export const isObjectId = (value: unknown): value is ObjectId => value instanceof ObjectId

/** Converts a stored id. @throws {DomainError} NOT_FOUND if it is no id. */
export function fromObjectId<Id extends TimeId>(id: ObjectId): Id {
  if (!isObjectId(id)) throw malformedData()
  return id.toHexString() as Id
}

/** Bounds below and above every id. */
export const lowestId = new ObjectId('0'.repeat(24))
export const highestId = new ObjectId('f'.repeat(24))
