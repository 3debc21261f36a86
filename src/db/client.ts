import {
  MongoClient,
  type MongoClientOptions,
  type ServerHeartbeatSucceededEvent,
  type Timestamp,
} from 'mongodb'
import { causalConnection } from './causal-connection.ts'
import { countConnections } from './connection-metrics.ts'
import { EndingConnection } from './ending-connection.ts'
import { commandMs } from './request-time.ts'

/** How long a command of a request may take on the server, in milliseconds. */
export const commandMsMax = 2_500

/**
 * Options of each command of a request. The server gives up no later than the client, and no later
 * than the deadline of the request. Reading them throws {@link RequestEnded} after that, so a
 * request that has ended sends no command.
 */
export const requestTimeout = {
  get maxTimeMS(): number {
    return commandMs(commandMsMax)
  },
}

/**
 * Options of reads with up to 4,000 documents: {@link requestTimeout}, and all documents in one
 * answer (law L5). MongoDB's default for the first answer is 101 documents.
 */
export const singleBatch = {
  get maxTimeMS(): number {
    return commandMs(commandMsMax)
  },
  batchSize: 4_000,
}

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

/** An option that the driver accepts, but does not declare. */
const connectionsOf = (profile: ClientProfile): object => ({
  connectionType: profile === 'serving' ? causalConnection() : EndingConnection,
})

/** How long a command waits for a primary or for a free connection to it, in milliseconds. */
const selectionMsMax = 5_000

/**
 * How long the socket of a serving command may be silent, in milliseconds. Longer than
 * {@link commandMsMax}.
 */
const silenceMsMax = 3_000

/**
 * How a process uses the database. A `bulk` command has no time limit. A `serving` command is
 * counted, and as a part of a job it sees what the job's transaction wrote. It fails after 8 s if a
 * frozen primary does not answer. These are 3 s of silence, then 5 s in which its retry finds no
 * primary.
 */
export type ClientProfile = 'serving' | 'bulk'

/**
 * Connects to a replica set or a sharded cluster. Writes wait for a majority, and reads return
 * majority-committed data. So no failover reverts the data of an answer (law L4). Reads after a
 * failover see all writes acknowledged before it. A read in an explicit session names its own read
 * concern. Otherwise the driver adds the session's time to the read concern object that all other
 * reads share.
 * @param listen adds listeners to the client before it connects.
 * @throws MongoServerSelectionError if no primary answers within 5 s.
 */
export async function connect(
  uri: string,
  profile: ClientProfile = 'serving',
  extra: MongoClientOptions = {},
  listen: (client: MongoClient) => void = () => {},
): Promise<MongoClient> {
  const client = new MongoClient(uri, {
    ...options,
    serverSelectionTimeoutMS: selectionMsMax,
    ...connectionsOf(profile),
    ...(profile === 'serving'
      ? { socketTimeoutMS: silenceMsMax, waitQueueTimeoutMS: selectionMsMax }
      : {}),
    ...extra,
  })
  if (profile === 'serving') countConnections(client)
  readPastElections(client)
  listen(client)
  try {
    await client.connect()
    await client.db('admin').command({ ping: 1 })
    return client
  } catch (error) {
    await client.close()
    throw error
  }
}

/**
 * Makes every majority read see the writes that earlier primaries acknowledged. A new primary knows
 * the majority's state only after a majority has its own first write. Until then, its majority
 * reads may lack writes that the previous primary acknowledged. So after each election, all reads
 * wait for the last write that the new primary had when the client first saw it. Call it before the
 * client connects.
 */
function readPastElections(client: MongoClient): void {
  let election = ''
  // The driver emits this event before it sends a command to a new primary.
  client.on('serverHeartbeatSucceeded', ({ reply }: ServerHeartbeatSucceededEvent) => {
    if (!(reply.isWritablePrimary ?? reply.ismaster)) return
    const id = reply.electionId?.toHexString() ?? ''
    // A primary of an earlier term may continue for some seconds.
    if (id <= election) return
    election = id
    readNotBefore(client, reply.lastWrite.opTime.ts)
  })
}

/**
 * Makes all majority reads of a client that are sent from now on wait for a time that its primary
 * has. If it has that time, waiting costs nothing. It sets the read concern that all operations of
 * `client` share.
 */
export function readNotBefore(client: MongoClient, time: Timestamp): void {
  const shared = client.readConcern as { afterClusterTime?: Timestamp } | undefined
  if (shared && !shared.afterClusterTime?.greaterThanOrEqual(time)) shared.afterClusterTime = time
}
