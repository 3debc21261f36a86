import { MongoClient, type MongoClientOptions } from 'mongodb'
import { readPastElections } from './elections.ts'

/** The longest a single command of a request may take on the server, in milliseconds. */
export const commandMsMax = 2_500

/** Options for every command of a request: the server gives up when the client would. */
export const bounded = { maxTimeMS: commandMsMax } as const

/**
 * As {@link bounded}, for reads of which a page or a batch of look-ups sets the size: everything comes in one answer,
 * where MongoDB's own first one stops at 101 documents (law L5).
 */
export const atOnce = { ...bounded, batchSize: 4_000 } as const

const options: MongoClientOptions = {
  appName: 'feedline',
  ignoreUndefined: true,
  retryWrites: true,
  retryReads: true,
  w: 'majority',
  readConcernLevel: 'majority',
  readPreference: 'primary',
  connectTimeoutMS: 2_000,
  heartbeatFrequencyMS: 1_000,
}

/** How long a command waits for a primary, and for a free connection to it, in milliseconds. */
const selectionMsMax = 5_000

/** How long the socket of a serving command may be silent, in milliseconds: longer than {@link commandMsMax}. */
const silenceMsMax = 3_000

/**
 * How a process uses the database. A `serving` command that a frozen primary never answers fails after 8 s: 3 s of
 * silence, then 5 s in which its retry finds no primary. A `bulk` command may run for as long as it needs.
 */
export type ClientProfile = 'serving' | 'bulk'

/**
 * Connects to a replica set or a sharded cluster. Writes wait for a majority, and reads return what a majority holds:
 * no failover takes back what an answer was based on (law L4). Reads after a failover see what was acknowledged before it.
 * A read in an explicit session names its own read concern, because the driver adds the session's time to the object
 * that all other reads share.
 * @throws MongoServerSelectionError when no primary answers within 5 s.
 */
export async function connect(
  uri: string,
  profile: ClientProfile = 'serving',
  extra: MongoClientOptions = {},
): Promise<MongoClient> {
  const client = new MongoClient(uri, {
    ...options,
    serverSelectionTimeoutMS: selectionMsMax,
    ...(profile === 'serving'
      ? { socketTimeoutMS: silenceMsMax, waitQueueTimeoutMS: selectionMsMax }
      : {}),
    ...extra,
  })
  readPastElections(client)
  try {
    await client.connect()
    await client.db('admin').command({ ping: 1 })
    return client
  } catch (error) {
    await client.close()
    throw error
  }
}
