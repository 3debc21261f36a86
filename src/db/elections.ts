import type { MongoClient, ServerHeartbeatSucceededEvent, Timestamp } from 'mongodb'

/**
 * Makes every majority read see the writes that earlier primaries acknowledged.
 * A new primary knows the majority's state only after a majority has its own first write. Until then, its majority
 * reads may lack writes that the previous primary acknowledged.
 * So after each election, all reads wait for the last write that the new primary had when the client first saw it.
 * After a majority has this write, waiting costs nothing.
 * It sets the read concern that all operations of `client` share. Call it before the client connects.
 */
export function readPastElections(client: MongoClient): void {
  const shared = client.readConcern as { afterClusterTime?: Timestamp } | undefined
  let election = ''
  // The driver emits this event before it sends a command to a new primary.
  client.on('serverHeartbeatSucceeded', ({ reply }: ServerHeartbeatSucceededEvent) => {
    if (!shared || !(reply.isWritablePrimary ?? reply.ismaster)) return
    const id = reply.electionId?.toHexString() ?? ''
    // A primary of an earlier term may continue for some seconds.
    if (id <= election) return
    election = id
    shared.afterClusterTime = reply.lastWrite.opTime.ts
  })
}
