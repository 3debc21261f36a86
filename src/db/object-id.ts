import { ObjectId } from 'mongodb'
import type { TimeId } from '../lib/ids.ts'

/** The stored form of an id. Takes only parsed ids: `new ObjectId(null)` would invent one. */
export const toObjectId = (id: TimeId): ObjectId => ObjectId.createFromHexString(id)

/** The core's form of a stored id. */
export const fromObjectId = <Id extends TimeId>(id: ObjectId): Id => id.toHexString() as Id

/** Below and above every id that is ever made. */
export const lowestId = new ObjectId('0'.repeat(24))
export const highestId = new ObjectId('f'.repeat(24))
