import type { CommandFailedEvent, CommandStartedEvent, MongoClient } from 'mongodb'
import {
  commandFailures,
  commandSeconds,
  connections,
  poolFailures,
  poolWaiting,
  poolWaitSeconds,
} from '../metrics/mongodb.ts'
import { requestScope } from '../request-scope.ts'
import { collectionNames } from './collections.ts'

const known: ReadonlySet<string> = new Set(collectionNames)

/** Counts the commands and connections of a client, also for the request that sends them. */
export function monitorClient(client: MongoClient): void {
  countCommands(client)
  countConnections(client)
}

/** The commands that have no answer yet, by request id: their labels. As many as connections. */
type Sent = Map<number, { readonly command: string; readonly collection: string }>

function countCommands(client: MongoClient): void {
  const sent: Sent = new Map()
  client.on('commandStarted', (event) => {
    const scope = requestScope.getStore()
    if (scope) scope.commands++
    sent.set(event.requestId, { command: event.commandName, collection: collectionOf(event) })
  })
  client.on('commandSucceeded', ({ requestId, duration }) => {
    const labels = sent.get(requestId)
    if (labels) commandSeconds.observe(labels, duration / 1000)
    sent.delete(requestId)
  })
  client.on('commandFailed', ({ requestId, duration, failure }) => {
    const labels = sent.get(requestId)
    if (labels) {
      commandSeconds.observe(labels, duration / 1000)
      commandFailures.inc({ ...labels, error: errorNameOf(failure) })
    }
    sent.delete(requestId)
  })
}

/** The collection of a command, or "none". A name outside the catalogue is "other". */
function collectionOf({ commandName, command }: CommandStartedEvent): string {
  const name = commandName === 'getMore' ? command.collection : command[commandName]
  if (typeof name !== 'string') return 'none'
  return known.has(name) ? name : 'other'
}

/** The server's name of an error code, or the driver's class of error. Both are fixed sets. */
const errorNameOf = (failure: CommandFailedEvent['failure']): string =>
  (failure as { codeName?: string }).codeName ?? failure.name

function countConnections(client: MongoClient): void {
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
