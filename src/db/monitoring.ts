import type { CommandFailedEvent, CommandStartedEvent, MongoClient } from 'mongodb'
import {
  commandFailures,
  commandSeconds,
  connections,
  poolFailures,
  poolWaiting,
  poolWaitSeconds,
} from '../metrics/mongodb.ts'
import { currentScope } from '../request-scope.ts'
import { endSpan, startChildSpan } from '../tracing/spans.ts'
import { collectionNames } from './collections.ts'

const known: ReadonlySet<string> = new Set(collectionNames)

/** Counts the commands and connections of a client, also for the request that sends them. */
export function monitorClient(client: MongoClient): void {
  countCommands(client)
  countConnections(client)
}

/** A command that has no answer yet. */
interface SentCommand {
  readonly labels: { readonly command: string; readonly collection: string }
  /** Undefined while tracing is off, and outside requests and jobs. */
  readonly span: ReturnType<typeof startChildSpan>
}

function countCommands(client: MongoClient): void {
  // By request id. As many as connections.
  const sent = new Map<number, SentCommand>()
  client.on('commandStarted', (event) => {
    const scope = currentScope()
    if (scope) scope.commands++
    const labels = { command: event.commandName, collection: collectionOf(event) }
    sent.set(event.requestId, { labels, span: startCommandSpan(labels) })
  })
  client.on('commandSucceeded', ({ requestId, duration }) => {
    const command = sent.get(requestId)
    if (command) commandSeconds.observe(command.labels, duration / 1000)
    endSpan(command?.span)
    sent.delete(requestId)
  })
  client.on('commandFailed', ({ requestId, duration, failure }) => {
    const command = sent.get(requestId)
    if (command) {
      const error = errorNameOf(failure)
      commandSeconds.observe(command.labels, duration / 1000)
      commandFailures.inc({ ...command.labels, error })
      endSpan(command.span, error)
    }
    sent.delete(requestId)
  })
}

/** The attributes hold no value of a command. */
const startCommandSpan = ({ command, collection }: SentCommand['labels']) =>
  startChildSpan(`${command} ${collection}`, {
    kind: 'CLIENT',
    attributes: {
      'db.system.name': 'mongodb',
      'db.operation.name': command,
      'db.collection.name': collection,
    },
  })

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
