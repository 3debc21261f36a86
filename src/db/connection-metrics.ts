import type { MongoClient } from 'mongodb'
import { connections, poolFailures, poolWaiting, poolWaitSeconds } from '../metrics/mongodb.ts'

/** Counts the connections of a client, and how commands wait for them. */
export function countConnections(client: MongoClient): void {
  client.on('connectionCreated', () => connections.inc({ state: 'open' }))
  client.on('connectionClosed', () => connections.dec({ state: 'open' }))
  client.on('connectionCheckOutStarted', () => poolWaiting.inc())
  client.on('connectionCheckOutFailed', ({ reason }) => {
    poolWaiting.dec()
    poolFailures.inc({ reason: String(reason) })
  })
  client.on('connectionCheckedOut', ({ durationMS }) => {
    poolWaiting.dec()
    poolWaitSeconds.observe(durationMS / 1000)
    connections.inc({ state: 'in_use' })
  })
  client.on('connectionCheckedIn', () => connections.dec({ state: 'in_use' }))
}
