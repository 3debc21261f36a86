import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { BSON, type CommandStartedEvent, type Document, type MongoClient } from 'mongodb'
import type { FollowingMode } from '../../../src/config.ts'
import { type CollectionName, catalogue } from '../../../src/db/collections.ts'
import { isInJob } from '../../../src/request-scope.ts'
import { root } from '../../support/process.ts'
import { statementsOf } from './explain.ts'

/**
 * A statement of the test suite, as an example of all statements that differ only in their values.
 */
export interface Shape {
  /** The source file whose code sent it, like `src/timeline/strategies/inbox.ts`. */
  readonly from: string
  readonly following: FollowingMode
  /** The statement in the form of `explain`. An insert has only the fields of its shard key. */
  readonly statement: Document
  /** Whether a transaction sent it. Only noted of a statement that joins collections. */
  readonly inTransaction: boolean
  /**
   * For a read of a job's task: whether it waits for the transaction of the job. Absent in all
   * other statements.
   */
  readonly waits?: boolean
}

/** The folder in which a run of the test suite stores the shapes, one file each. */
export const shapesFolder = join(root, 'test-results/shapes')

/** Fields with few values, which decide how many documents match. */
const kept = new Set(['kind', 'state', 'queue', 'type', 'open', 'hint', 'sort', '$sort'])
/** Fields with the name of a collection. */
const names = new Set(['find', 'aggregate', 'update', 'delete', 'insert', 'from', 'findAndModify'])
const collections = catalogue('collection')
const framesMax = 60
/** The number of elements to read at each end of a long list. A command repeats few shapes. */
const ends = 3

/** Stores every shape that the product's code sends through a client, once. */
export function keepShapes(client: MongoClient, following: FollowingMode): void {
  const known = new Set<string>()
  client.on('commandStarted', ({ commandName: name, command }: CommandStartedEvent) => {
    const waits = waitsForJob(client, name, command)
    const read = `task ${name} ${command[name]} ${waits}`
    if (waits !== undefined && !known.has(read)) {
      known.add(read)
      const statement = { [name]: command[name] }
      keep({ from: sender() ?? '', following, statement, inTransaction: false, waits }, read)
    }
    const list = { update: 'updates', delete: 'deletes' }[name]
    const short = list ? { ...command, [list]: endsOf(command[list]) } : command
    const statements =
      name === 'insert'
        ? [insertOf(command)]
        : statementsOf({ name, command: short, collection: undefined })
    for (const statement of statements) {
      const inTransaction = command.autocommit === false && joins(statement)
      const shape = JSON.stringify([shapeOf(statement), ...(inTransaction ? [inTransaction] : [])])
      if (known.has(shape)) continue
      const from = sender()
      if (!from || from.startsWith('tests/')) continue
      known.add(shape)
      keep({ from, following, statement, inTransaction }, shape)
    }
  })
}

const joins = ({ pipeline = [] }: Document): boolean =>
  pipeline.some(({ $lookup }: Document) => $lookup !== undefined)

/** An insert, with the fields of its documents that can belong to a shard key. */
function insertOf({ insert, documents }: Document): Document {
  const { shardKey = {} } = collections[insert as CollectionName] ?? {}
  const fields = Object.keys(shardKey).map((path) => path.split('.')[0] as string)
  return {
    insert,
    documents: endsOf(documents as Document[]).map((document) =>
      Object.fromEntries(
        fields.flatMap((name) => (name in document ? [[name, document[name]]] : [])),
      ),
    ),
  }
}

/**
 * Whether a read of a job's task waits for the transaction of the job. Undefined for other
 * commands.
 */
function waitsForJob(client: MongoClient, name: string, command: Document): boolean | undefined {
  const { readConcern, autocommit } = command
  const isRead = ['find', 'aggregate', 'distinct', 'count'].includes(name)
  if (!isRead || !isInJob() || autocommit === false || readConcern?.level === 'snapshot')
    return undefined
  // All reads share the read concern of the client, which waits for elections.
  return readConcern !== client.readConcern && readConcern?.afterClusterTime !== undefined
}

function keep(shape: Shape, key: string): void {
  const hash = createHash('sha256')
    .update(`${shape.from} ${shape.following} ${key}`)
    .digest('hex')
    .slice(0, 16)
  const file = join(shapesFolder, `${hash}.json`)
  if (existsSync(file)) return
  mkdirSync(shapesFolder, { recursive: true })
  writeFileSync(file, BSON.EJSON.stringify(shape))
}

/** A statement without its values: only fields, operators, types, order and hints. */
function shapeOf(value: unknown, field?: string): unknown {
  if (Array.isArray(value)) {
    return [...new Set(endsOf(value).map((one) => JSON.stringify(shapeOf(one, field))))]
  }
  const isPlain = typeof value === 'object' && value?.constructor === Object
  if (isPlain) {
    if (field === 'u') return 'update'
    return Object.fromEntries(
      Object.entries(value).map(([name, one]) => [
        name,
        kept.has(name) ? one : shapeOf(one, name.startsWith('$') ? field : name),
      ]),
    )
  }
  const isPath = typeof value === 'string' && value.startsWith('$')
  const isName = names.has(field ?? '')
  return isPath || isName ? value : (value?.constructor?.name ?? typeof value)
}

const endsOf = <T>(list: readonly T[]): T[] =>
  list.length <= 2 * ends ? [...list] : [...list.slice(0, ends), ...list.slice(-ends)]

/** Files that the driver calls for every command. */
const betweenDriver: ReadonlySet<string> = new Set([
  'src/db/causal-connection.ts',
  'src/db/find-at-once.ts',
  'src/db/ending-connection.ts',
  'src/db/measured-connection.ts',
  'tests/explained/statements/shapes.ts',
])

/**
 * The innermost source file in the call stack of the sent command. A helper of `src/lib` only
 * without another one.
 */
function sender(): string | undefined {
  let helper: string | undefined
  const { prepareStackTrace, stackTraceLimit } = Error
  Error.stackTraceLimit = framesMax
  Error.prepareStackTrace = (_, frames) => frames
  const frames = new Error().stack as unknown as NodeJS.CallSite[]
  Object.assign(Error, { prepareStackTrace, stackTraceLimit })
  for (const frame of frames) {
    const path = (frame.getFileName() ?? '').replace(/^file:\/\//, '')
    const file = relative(root, path)
    if (!/^(src|packages|tests)\//.test(file) || betweenDriver.has(file)) continue
    if (!file.startsWith('src/lib/')) return file
    helper ??= file
  }
  return helper
}
