import { Timestamp } from 'mongodb'
import { registerStrategies } from '../../src/timeline/feeds.ts'
import {
  type FeedStrategyName,
  isMaterialised,
  materialisedNames,
} from '../../src/timeline/strategies/list.ts'
import type { Child } from '../child-process.ts'
import { type BenchDatabase, openBenchDatabase, openServices } from '../database.ts'
import { clearBuckets, type FeedsDatabase, maintainOnly } from '../feeds/feeds-database.ts'
import { type Server, startServer } from '../feeds/http.ts'
import type { HttpLoadResult, LoadJob } from '../feeds/load-process.ts'
import { waitForEmptyOutbox } from '../feeds/mixed-workload-systems.ts'
import { readMongodCpuUs } from '../reads/feedline-side.ts'
import { tokenSecret } from '../tokens.ts'

/**
 * What operations cost: processor time of server and mongod, bytes of the oplog, and written
 * documents.
 */
export interface Cost {
  readonly serverUs: number
  readonly mongodUs: number
  readonly oplogBytes: number
  /** Documents that were inserted, updated or deleted. */
  readonly writes: number
}

/** A request of a load. */
export type LoadRequest = LoadJob['requests'][number]

/** The number of requests at once. Requests share commands, so the cost of one depends on it. */
const connections = 16
/** The number of posts to large audiences at once: their deliveries keep mongod busy. */
export const connectionsOfLargePosts = 4

const maintained = { FEED_MAINTAINED: materialisedNames.join(',') } as const

/**
 * Opens a database in which all strategies are registered before the first user, so that they cover
 * every reader.
 */
export async function openCapacityDatabase(log: (line: string) => void): Promise<FeedsDatabase> {
  const database = await openBenchDatabase(log, maintained, { socketTimeoutMS: 120_000 })
  await registerStrategies(database.services, materialisedNames)
  const registered = await database.services.collections.strategies.find().toArray()
  return { ...database, registered }
}

/** Maintains one strategy from now on, and deletes all stored timelines. */
export async function prepareStrategy(
  database: FeedsDatabase,
  strategy: FeedStrategyName,
): Promise<void> {
  const { collections } = database.services
  await maintainOnly(database, isMaterialised(strategy) ? [strategy] : [])
  await collections.timeline_cache.drop()
  await clearBuckets(database)
}

/** A production server with one strategy, whose operations can be measured. */
export interface MeasuredServer extends AsyncDisposable {
  /**
   * Sends each request once, 16 at a time, and waits until no job is left. @returns the cost of
   * all.
   */
  measure(requests: readonly LoadRequest[], together?: number): Promise<Cost>
}

/** Starts the built server, as in production and without rate limits. */
export async function startMeasuredServer(
  database: FeedsDatabase,
  load: Child,
  strategy: FeedStrategyName,
  { built, pageCacheMb }: { readonly built: string; readonly pageCacheMb: number },
): Promise<MeasuredServer> {
  const { uri, db } = database
  const server = await startServer(
    'feedline-server.ts',
    {
      ...{ FEED_STRATEGY: strategy, FEED_MAINTAINED: strategy, PAGE_CACHE_MB: String(pageCacheMb) },
      ...{
        NODE_ENV: 'production',
        FEEDLINE_BUILT: built,
        PORT: '0',
        ADMIN_PORT: '0',
        DRAIN_SECONDS: '0',
      },
      ...{ MONGODB_URI: uri, MONGODB_DATABASE: db.databaseName },
      ...{ AUTH_JWT_SECRET: tokenSecret, RATE_LIMIT_COST: '0', RATE_LIMIT_MUTATIONS: '0' },
    },
    { port: true },
  )
  return {
    measure: (requests, together = connections) =>
      measureCost(database, server, load, requests, together),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  }
}

async function measureCost(
  database: FeedsDatabase,
  server: Server,
  load: Child,
  requests: readonly LoadRequest[],
  together: number,
): Promise<Cost> {
  const since = await readClusterTime(database)
  const [serverBefore, mongodBefore] = [
    await server.readCpuTimeUs(),
    await readMongodCpuUs(database),
  ]
  const writesBefore = await readWrites(database)
  const amount = requests.length
  const job: LoadJob = {
    ...{ port: server.port, requests, ms: 0, amount },
    connections: Math.min(together, amount),
  }
  await load.sendRequest<HttpLoadResult>(job)
  await waitForEmptyOutbox(database.services)
  const serverUs = (await server.readCpuTimeUs()) - serverBefore
  const mongodUs = (await readMongodCpuUs(database)) - mongodBefore
  const writes = (await readWrites(database)) - writesBefore
  return { serverUs, mongodUs, oplogBytes: await readOplogBytes(database, since), writes }
}

async function readWrites({ db }: BenchDatabase): Promise<number> {
  const { metrics } = await db.admin().serverStatus()
  const { inserted, updated, deleted } = metrics.document
  return Number(inserted) + Number(updated) + Number(deleted)
}

async function readClusterTime({ client }: BenchDatabase): Promise<Timestamp> {
  const { operationTime } = await client.db('admin').command({ ping: 1 })
  return operationTime ?? new Timestamp(0n)
}

/** The bytes of the entries that the oplog has got since a time. */
async function readOplogBytes({ client }: BenchDatabase, since: Timestamp): Promise<number> {
  const [sum] = await client
    .db('local')
    .collection('oplog.rs')
    .aggregate<{ bytes: number }>([
      { $match: { ts: { $gt: since } } },
      { $group: { _id: null, bytes: { $sum: { $bsonSize: '$$ROOT' } } } },
    ])
    .toArray()
  return sum?.bytes ?? 0
}

/** The cost of one of `count` operations. */
export const divideCost = (cost: Cost, count: number): Cost => ({
  serverUs: cost.serverUs / count,
  mongodUs: cost.mongodUs / count,
  oplogBytes: cost.oplogBytes / count,
  writes: cost.writes / count,
})

/**
 * Opens services that maintain one strategy, with entries as a server with default settings stores
 * them.
 */
export const openStrategyServices = ({ uri, db }: FeedsDatabase, strategy: FeedStrategyName) =>
  openServices(uri, db.databaseName, { FEED_STRATEGY: strategy, FEED_MAINTAINED: strategy })
