import type { Collection, Document, Filter } from 'mongodb'
import { singleBatch } from './client.ts'
import { isInterruptedRead } from './errors.ts'

/** What is found, and in which order. */
interface FindOptions {
  readonly projection?: Document
  readonly sort?: Document
  readonly limit?: number
  readonly hint?: Document
  readonly maxTimeMS?: number
}

/**
 * Finds up to `limit` documents, or all if there are at most 4,000, as `find` of the driver with
 * `singleBatch`, with half of its processor time: no cursor is made, and the reply is decoded as a
 * whole. Not in a transaction. One command, and one more if the first one was interrupted, as a
 * read of the driver is.
 * @throws {RangeError} if there are more than 4,000 and no limit: the caller would miss some.
 */
export async function findAtOnce<Doc extends Document, Found = Doc>(
  collection: Collection<Doc>,
  filter: Filter<Doc>,
  options: FindOptions = {},
): Promise<Found[]> {
  const { db, collectionName, readConcern } = collection
  const { batchSize: documentsMax } = singleBatch
  // One more than the caller may have shows that there are too many.
  const { limit = documentsMax + 1 } = options
  const find = async () => {
    const command = {
      find: collectionName,
      filter,
      ...options,
      ...singleBatch,
      limit,
      // A batch that is not full leaves no cursor. A view, which a migration may leave, refuses
      // `singleBatch`.
      batchSize: limit + 1,
      ...(readConcern ? { readConcern: { ...readConcern } } : {}),
    }
    const { cursor } = await db.command(command, { ignoreUndefined: true })
    const documents = cursor.firstBatch as Found[]
    if (options.limit === undefined && documents.length > documentsMax)
      throw new RangeError(`${collectionName} has more than 4,000 of the documents of a find`)
    return documents
  }
  return find().catch((error: unknown) => {
    if (isInterruptedRead(error)) return find()
    throw error
  })
}
