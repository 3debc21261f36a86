import { ObjectId } from 'mongodb'
import type { TimeId } from '../lib/ids.ts'

/** Converts an id into its stored form. Takes only parsed ids, because `new ObjectId(null)` makes a new id. */
export const toObjectId = (id: TimeId): ObjectId => ObjectId.createFromHexString(id)

/** Converts a stored id. */
export const fromObjectId = <Id extends TimeId>(id: ObjectId): Id => id.toHexString() as Id

/** Bounds below and above every id. */
export const lowestId = new ObjectId('0'.repeat(24))
export const highestId = new ObjectId('f'.repeat(24))
