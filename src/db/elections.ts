import type { MongoClient, ServerDescriptionChangedEvent, Timestamp } from 'mongodb'

/**
 * Has every read that a majority answers see what earlier primaries acknowledged. A primary that was just elected knows
 * what a majority holds only once a majority has its own first write. Until then its majority reads may lack what the
 * primary before it acknowledged. So from each election on, all reads wait for the time at which the new primary was
 * first seen; that time does not move until the next election, and waiting for it costs nothing once it has passed.
 * Sets the read concern that all operations of `client` share. To be called before the client connects.
 */
export function readPastElections(client: MongoClient): void {
  const shared = client.readConcern as { afterClusterTime?: Timestamp } | undefined
  let election: string | undefined
  client.on('serverDescriptionChanged', ({ newDescription }: ServerDescriptionChangedEvent) => {
    const { type, electionId, $clusterTime } = newDescription
    if (type !== 'RSPrimary' || !$clusterTime || !shared) return
    const id = electionId?.toHexString()
    if (id === election) return
    election = id
    const { clusterTime } = $clusterTime
    if (!shared.afterClusterTime?.greaterThan(clusterTime)) shared.afterClusterTime = clusterTime
  })
}
