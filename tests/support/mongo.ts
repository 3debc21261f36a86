import { createHash, randomBytes } from 'node:crypto'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { CollectionInfo, CommandStartedEvent, Db, Document, MongoClient } from 'mongodb'
import { afterAll, beforeAll, inject } from 'vitest'
import { acquireLock } from '../../packages/mongod/lock.ts'
import { applySharding, loadClusterState } from '../../packages/shard/cluster.ts'
import { planSharding } from '../../packages/shard/plan.ts'
import type { FollowingMode } from '../../src/config.ts'
import { connect } from '../../src/db/client.ts'
import { type Collections, catalogue, openCollections } from '../../src/db/collections.ts'
import { isRouter } from '../../src/db/deployment.ts'
import { applyIndexes } from '../../src/db/indexes.ts'
import { keepShapes } from '../explained/statements/shapes.ts'
import { patient } from './patience.ts'

/** The test file's own database, on a client whose commands can be watched. */
export interface TestDatabase {
  readonly client: MongoClient
  readonly db: Db
  readonly name: string
  readonly uri: string
  readonly collections: Collections
}

/** A command as the driver sent it. */
export interface RecordedCommand {
  readonly name: string
  /** Undefined for a command without a collection, like commitTransaction. */
  readonly collection: string | undefined
  readonly command: Document
}

/** Databases that earlier test files of this process have left. */
const released: {
  readonly name: string
  readonly following: FollowingMode
  readonly at: number
}[] = []
/**
 * The time after which nothing that a test file has left behind writes any more, in milliseconds.
 */
const settledMs = patient(5_000)
/** What a new database has, by collection. */
const pristine = new Map<FollowingMode, ReadonlyMap<string, string>>()

/**
 * Opens an empty database that no other test uses. Its disposal closes the client. It may have been
 * another test's, because a new one with all its indexes takes half a second of processor time, and
 * to empty it a tenth.
 */
export async function testDatabase(
  following: FollowingMode = 'collection',
): Promise<TestDatabase & AsyncDisposable> {
  const uri = inject('mongoUri')
  const free = released.findIndex(
    (left) => left.following === following && left.at < performance.now() - settledMs,
  )
  const [left] = free < 0 ? [] : released.splice(free, 1)
  const name = left?.name ?? `${inject('databasePrefix')}${randomBytes(6).toString('hex')}`
  const isSharded = await inBulk(uri, async (bulk) => {
    const isSharded = await isRouter(bulk.db(name))
    if (isSharded && following === 'collection') await shard(bulk, name)
    if (left) await emptyDatabase(bulk.db(name), following)
    else await applyIndexes(bulk.db(name), following)
    if (!isSharded && !pristine.has(following)) {
      pristine.set(following, await contentsOf(bulk.db(name)))
    }
    return isSharded
  })
  const client = await connect(uri, 'serving', {
    monitorCommands: true,
    appName: name,
    // Commands of a request have their own limit. Those that prepare a test may take longer on a
    // slow machine.
    socketTimeoutMS: 20_000,
    waitQueueTimeoutMS: patient(5_000),
    // After a failure the driver checks the server again at once instead of up to a second later.
    serverMonitoringMode: 'poll',
    minHeartbeatFrequencyMS: 20,
  })
  keepShapes(client, following)
  const db = client.db(name)
  return {
    client,
    db,
    name,
    uri,
    collections: openCollections(db),
    [Symbol.asyncDispose]: async () => {
      await client.close()
      if (isSharded) await inBulk(uri, (bulk) => bulk.db(name).dropDatabase())
      else released.push({ name, following, at: performance.now() })
    },
  }
}

/** The options and indexes of each collection, as text. */
async function contentsOf(db: Db): Promise<ReadonlyMap<string, string>> {
  const collections = await db.listCollections<CollectionInfo>().toArray()
  const rows = collections.map(async ({ name, type, options }): Promise<[string, string]> => {
    const indexes = type === 'view' ? [] : await db.collection(name).indexes()
    return [name, JSON.stringify([type, options, indexes])]
  })
  return new Map(await Promise.all(rows))
}

/** Makes a database as good as new: without documents, changed collections and learnt plans. */
export async function emptyDatabase(db: Db, following: FollowingMode): Promise<void> {
  const wanted = pristine.get(following)
  const present = await contentsOf(db)
  let isWhole = true
  const collections = [...present].map(async ([name, contents]) => {
    if (wanted?.get(name) === contents) {
      await db.collection(name).deleteMany({})
      await db.command({ planCacheClear: name })
    } else {
      isWhole = false
      await db.dropCollection(name)
    }
  })
  await Promise.all(collections)
  if (!isWhole || [...(wanted?.keys() ?? [])].some((name) => !present.has(name))) {
    await applyIndexes(db, following)
  }
}

/** Distributes the database as `feedline shard` does, if the tests run on a sharded cluster. */
async function shard(client: MongoClient, name: string): Promise<void> {
  const state = await loadClusterState(client, client.db(name))
  await applySharding(client, planSharding(name, catalogue('collection'), state), () => {})
}

/**
 * Runs `work` on a bulk client: creating and dropping a database exceeds the timeout of a request.
 */
async function inBulk<T>(uri: string, work: (client: MongoClient) => Promise<T>): Promise<T> {
  const client = await connect(uri, 'bulk')
  try {
    return await work(client)
  } finally {
    await client.close()
  }
}

/** Gives a test file a fresh database with all its indexes. Its fields are set when hooks run. */
export function useDatabase(following: FollowingMode = 'collection'): TestDatabase {
  let opened: (TestDatabase & AsyncDisposable) | undefined
  beforeAll(async () => {
    opened = await testDatabase(following)
  })
  afterAll(async () => {
    await opened?.[Symbol.asyncDispose]()
  })
  const current = (): TestDatabase => {
    if (!opened) throw new Error('the database exists only from beforeAll to afterAll')
    return opened
  }
  return {
    get client() {
      return current().client
    },
    get db() {
      return current().db
    },
    get name() {
      return current().name
    },
    get uri() {
      return current().uri
    },
    get collections() {
      return current().collections
    },
  }
}

const housekeeping = new Set(['hello', 'ping', 'endSessions', 'killCursors', 'configureFailPoint'])

/**
 * Runs `work` and records all commands that the client sends to MongoDB during it, in order.
 * Includes every try of a retried command, every getMore, and commands of concurrent work. Omits
 * hello, ping, endSessions, killCursors, failpoints, and the reads of the log, which all requests
 * share.
 */
export async function recorded<T>(
  client: MongoClient,
  work: () => Promise<T>,
): Promise<{ readonly result: T; readonly commands: readonly RecordedCommand[] }> {
  const commands: RecordedCommand[] = []
  const listener = ({ commandName: name, command }: CommandStartedEvent) => {
    if (housekeeping.has(name)) return
    const target = name === 'getMore' ? command.collection : command[name]
    if (target === '$cmd.aggregate') return
    commands.push({ name, command, collection: typeof target === 'string' ? target : undefined })
  }
  client.on('commandStarted', listener)
  try {
    return { result: await work(), commands }
  } finally {
    client.off('commandStarted', listener)
  }
}

/** The commands that fail, and their failure. */
export interface Failure {
  readonly failCommands: readonly string[]
  /** The database and collection whose commands fail, like `feedline.posts`. Default: all. */
  readonly namespace?: string
  /** The number of commands that fail, before the others succeed. Default: all. */
  readonly times?: number
  /**
   * The number of commands that succeed, before all others fail. Do not combine it with `times`.
   */
  readonly skip?: number
  readonly errorCode?: number
  readonly errorLabels?: readonly string[]
  /** The connection breaks before the command is run. */
  readonly closeConnection?: boolean
  /** The server runs the command, and then reports this error. */
  readonly writeConcernError?: Document
  /** The time that the command waits before the server runs it, in milliseconds. */
  readonly blockMs?: number
}

/** The server's only failpoint, for one test at a time. Its disposal turns it off. */
export interface Failpoint extends AsyncDisposable {
  /** Makes commands of this client fail. Other clients are not affected. */
  readonly set: (failure: Failure) => Promise<void>
}

/** The client that configures failpoints, for all test files of this process. */
let configurer: Promise<MongoClient> | undefined

/** Waits for its turn with the failpoint: to be done before anything that must not take long. */
export async function reserveFailpoint(client: MongoClient): Promise<Failpoint> {
  configurer ??= connect(inject('mongoUri'), 'bulk')
  const admin = (await configurer).db('admin')
  const release = await acquireLock(failpointLock(client))
  const configure = (mode: Document | string, data: Document = {}) =>
    admin.command({ configureFailPoint: 'failCommand', mode, data })
  return {
    set: async ({ times, skip, blockMs, ...how }) => {
      if (times !== undefined && skip !== undefined) throw new Error('times or skip, not both')
      const mode = times !== undefined ? { times } : skip !== undefined ? { skip } : 'alwaysOn'
      const blocking = blockMs === undefined ? {} : { blockConnection: true, blockTimeMS: blockMs }
      await configure(mode, { ...how, ...blocking, appName: client.options.appName })
    },
    [Symbol.asyncDispose]: async () => {
      try {
        await configure('off')
      } finally {
        await release()
      }
    },
  }
}

/** Makes commands of this client fail, and of no other, until disposed of. */
export async function failCommand(client: MongoClient, failure: Failure): Promise<AsyncDisposable> {
  const failpoint = await reserveFailpoint(client)
  try {
    await failpoint.set(failure)
    return failpoint
  } catch (error) {
    await failpoint[Symbol.asyncDispose]()
    throw error
  }
}

/** One per server: another run's is left alone. */
function failpointLock(client: MongoClient): string {
  const server = client.options.hosts.join()
  const hash = createHash('sha256').update(server).digest('hex').slice(0, 12)
  return join(tmpdir(), `feedline-test-failpoint-${hash}.lock`)
}
