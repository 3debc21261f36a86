import type {
  AggregateOptions,
  AggregationCursor,
  AnyBulkWriteOperation,
  BulkWriteOptions,
  BulkWriteResult,
  ClientSession,
  CountDocumentsOptions,
  DeleteOptions,
  DeleteResult,
  Document,
  Filter,
  FindCursor,
  FindOneAndUpdateOptions,
  FindOptions,
  InsertManyResult,
  InsertOneOptions,
  InsertOneResult,
  OptionalUnlessRequiredId,
  UpdateFilter,
  UpdateOptions,
  UpdateResult,
  WithId,
} from 'mongodb'

declare const ofTimelines: unique symbol

/** A session of the deployment that stores the timelines. */
export type TimelineSession = ClientSession & { readonly [ofTimelines]: true }

/** An open transaction of the deployment that stores the timelines. */
export interface TimelineTx {
  readonly session: TimelineSession
}

type In<Options> = Omit<Options, 'session'> & { readonly session?: TimelineSession | undefined }
type Update<T extends Document> = UpdateFilter<T> | Document[]

/**
 * The operations of a collection that may be stored on another deployment than users and posts. Its operations take a
 * {@link TimelineTx} and no transaction of the database, because a transaction covers only one deployment.
 */
export interface TimelineCollection<T extends Document> {
  readonly collectionName: string
  find(filter?: Filter<T>, options?: In<FindOptions>): FindCursor<WithId<T>>
  findOne(filter?: Filter<T>, options?: In<FindOptions>): Promise<WithId<T> | null>
  findOneAndUpdate(
    filter: Filter<T>,
    update: Update<T>,
    options?: In<FindOneAndUpdateOptions>,
  ): Promise<WithId<T> | null>
  aggregate<Row extends Document = Document>(
    pipeline?: Document[],
    options?: In<AggregateOptions>,
  ): AggregationCursor<Row>
  /** Also deletes its indexes. */
  drop(): Promise<boolean>
  distinct(key: string, filter?: Filter<T>): Promise<unknown[]>
  countDocuments(filter?: Filter<T>, options?: In<CountDocumentsOptions>): Promise<number>
  insertOne(
    doc: OptionalUnlessRequiredId<T>,
    options?: In<InsertOneOptions>,
  ): Promise<InsertOneResult<T>>
  insertMany(
    docs: readonly OptionalUnlessRequiredId<T>[],
    options?: In<BulkWriteOptions>,
  ): Promise<InsertManyResult<T>>
  updateOne(
    filter: Filter<T>,
    update: Update<T>,
    options?: In<UpdateOptions>,
  ): Promise<UpdateResult<T>>
  updateMany(
    filter: Filter<T>,
    update: Update<T>,
    options?: In<UpdateOptions>,
  ): Promise<UpdateResult<T>>
  deleteOne(filter: Filter<T>, options?: In<DeleteOptions>): Promise<DeleteResult>
  deleteMany(filter?: Filter<T>, options?: In<DeleteOptions>): Promise<DeleteResult>
  bulkWrite(
    operations: readonly AnyBulkWriteOperation<T>[],
    options?: In<BulkWriteOptions>,
  ): Promise<BulkWriteResult>
}
