import type { Collection, Document, Filter } from 'mongodb'
import { singleBatch } from './client.ts'
import { isInterruptedRead } from './errors.ts'

/** What is found, and in which order. */
interface FindOptions {
  readonly projection?: Document
  readonly sort?: Document
  readonly limit?: number
  readonly hint?: Document
}

/**
 * Finds up to `limit` documents, or 4,000, as `find` of the driver with `singleBatch`, with half of its processor time: no
 * cursor is made, and the reply is decoded as a whole. Not in a transaction. One command, and one more if the first one
 * was interrupted, as a read of the driver is.
 */
export async function findAtOnce<Doc extends Document, Found = Doc>(
  collection: Collection<Doc>,
  filter: Filter<Doc>,
  options: FindOptions = {},
): Promise<Found[]> {
  const { db, collectionName, readConcern } = collection
  const find = async () => {
    const command = {
      find: collectionName,
      filter,
      ...options,
      ...singleBatch,
      ...(options.limit ? { batchSize: options.limit } : {}),
      singleBatch: true,
      ...(readConcern ? { readConcern: { ...readConcern } } : {}),
    }
    const { cursor } = await db.command(command, { ignoreUndefined: true })
    return cursor.firstBatch as Found[]
  }
  return find().catch((error: unknown) => {
    if (isInterruptedRead(error)) return find()
    throw error
  })
}
