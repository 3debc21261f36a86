import { BSON } from 'mongodb'

/** Writes BSON values as text. */
export const { EJSON } = BSON

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
  UpdateFilter,
} from 'mongodb'
