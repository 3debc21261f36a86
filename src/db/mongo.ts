/** The driver's types that signatures outside db/ need; its values stay here. */
export type { Collection, Db, Filter, MongoClient, ObjectId, UpdateFilter } from 'mongodb'
