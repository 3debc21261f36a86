import type { MongoClient, ServerHeartbeatSucceededEvent, Timestamp } from 'mongodb'

/**
 * Has every read that a majority answers see what earlier primaries acknowledged. A primary that was just elected knows
 * what a majority holds only once a majority has its own first write. Until then its majority reads may lack what the
 * primary before it acknowledged. So from each election on, all reads wait for the last write that the new primary
 * had when it was first seen. That write stays the same until the next election; once a majority has it, waiting costs
 * nothing.
 * Sets the read concern that all operations of `client` share. To be called before the client connects.
 */
export function readPastElections(client: MongoClient): void {
  const shared = client.readConcern as { afterClusterTime?: Timestamp } | undefined
  let election = ''
  // Comes before the driver sends anything to a new primary.
  client.on('serverHeartbeatSucceeded', ({ reply }: ServerHeartbeatSucceededEvent) => {
    if (!shared || !(reply.isWritablePrimary ?? reply.ismaster)) return
    const id = reply.electionId?.toHexString() ?? ''
    // A primary of an earlier term may go on for some seconds.
    if (id <= election) return
    election = id
    shared.afterClusterTime = reply.lastWrite.opTime.ts
  })
}
