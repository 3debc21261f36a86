import { type Db, MongoClient, type MongoClientOptions } from 'mongodb'

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
  readPreference: 'primary',
  connectTimeoutMS: 2_000,
  heartbeatFrequencyMS: 1_000,
}

/** `serving` bounds each command to about six seconds in all, a frozen primary included; `bulk` waits for long ones. */
export type ClientProfile = 'serving' | 'bulk'

/**
 * Connects to a replica set or a sharded cluster; writes wait for a majority (law L4).
 * @throws MongoServerSelectionError when no primary answers within 5 s.
 */
export async function connect(
  uri: string,
  profile: ClientProfile = 'serving',
  extra: MongoClientOptions = {},
): Promise<MongoClient> {
  const client = new MongoClient(uri, {
    ...options,
    serverSelectionTimeoutMS: 5_000,
    ...(profile === 'serving' ? { socketTimeoutMS: 3_000 } : {}),
    ...extra,
  })
  try {
    await client.connect()
    await client.db('admin').command({ ping: 1 })
    return client
  } catch (error) {
    await client.close()
    throw error
  }
}

/** The database's clock, in milliseconds since 1970. One command. */
export async function databaseTime(db: Db): Promise<number> {
  const { localTime } = await db.command({ hello: 1, maxTimeMS: commandMsMax })
  return (localTime as Date).getTime()
}
