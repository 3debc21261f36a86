import type { Document } from 'mongodb'
import { Connection } from 'mongodb/lib/cmap/connection.js'
import { commandFailures, commandSeconds } from '../metrics/mongodb.ts'
import { currentScope } from '../request-scope.ts'
import { endSpan, startChildSpan } from '../tracing/spans.ts'
import { collectionNames } from './collections.ts'

const known: ReadonlySet<string> = new Set(collectionNames)

/** Sent by the driver to watch servers, not to serve. */
const ofTheDriver: ReadonlySet<string> = new Set(['hello', 'ismaster', 'isMaster'])

/** The labels of a command. They hold no value of it. */
interface CommandLabels {
  readonly command: string
  readonly collection: string
}

/**
 * A connection that counts and times each command, also for the request that sends it. It is the driver's option
 * `connectionType`, because the driver's events of commands decode every reply twice: a fifth of the processor time of a
 * small command.
 */
export class MeasuredConnection extends Connection {
  override async command(
    namespace: object,
    command: Document,
    options?: object,
    responseType?: unknown,
  ): Promise<unknown> {
    const labels = labelsOf(command)
    const send = () => super.command(namespace, command, options, responseType)
    return ofTheDriver.has(labels.command) ? send() : measure(labels, send)
  }
}

async function measure<T>(labels: CommandLabels, send: () => Promise<T>): Promise<T> {
  const scope = currentScope()
  if (scope) scope.commands++
  const span = startCommandSpan(labels)
  const sentAt = performance.now()
  const observe = () => commandSeconds.observe({ ...labels }, (performance.now() - sentAt) / 1000)
  try {
    const reply = await send()
    observe()
    endSpan(span)
    return reply
  } catch (failure) {
    const error = errorNameOf(failure)
    observe()
    commandFailures.inc({ ...labels, error })
    endSpan(span, error)
    throw failure
  }
}

/** Undefined while tracing is off, and outside requests and jobs. */
const startCommandSpan = ({ command, collection }: CommandLabels) =>
  startChildSpan(`${command} ${collection}`, {
    kind: 'CLIENT',
    attributes: {
      'db.system.name': 'mongodb',
      'db.operation.name': command,
      'db.collection.name': collection,
    },
  })

/** The name of a command, and its collection, or "none". A name outside the catalogue is "other". */
function labelsOf(command: Document): CommandLabels {
  const [name = 'none'] = Object.keys(command)
  const collection = name === 'getMore' ? command.collection : command[name]
  if (typeof collection !== 'string') return { command: name, collection: 'none' }
  return { command: name, collection: known.has(collection) ? collection : 'other' }
}

/** The server's name of an error code, or the driver's class of error. Both are fixed sets. */
const errorNameOf = (failure: unknown): string => {
  const { codeName, name } = failure as { codeName?: string; name?: string }
  return codeName ?? name ?? 'unknown'
}
