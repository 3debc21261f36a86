/** The driver's types that signatures outside db/ need; its values stay here. */
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
