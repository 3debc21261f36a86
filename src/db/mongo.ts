import { BSON, type ClientSession } from 'mongodb'

/** BSON values as text, and the lowest and the highest value of a key. */
export const { EJSON, MaxKey, MinKey } = BSON

/** An open transaction: every command of a write carries it. */
export interface Tx {
  readonly session: ClientSession
}

/** The driver's types for signatures outside db/. Only db/ imports values of the driver. */
export type {
  AnyBulkWriteOperation,
  Collection,
  Condition,
  Db,
  Document,
  Filter,
  MongoClient,
  ObjectId,
  Timestamp,
  UpdateFilter,
} from 'mongodb'
