import { ObjectId } from 'mongodb'
import { pino } from 'pino'
import { catalogue, type StrategyDoc } from '../../src/db/collections.ts'
import { applyIndexes } from '../../src/db/indexes.ts'
import { Worker } from '../../src/jobs/worker.ts'
import type { UserId } from '../../src/lib/ids.ts'
import type { Services } from '../../src/services.ts'
import { registerStrategies } from '../../src/timeline/feeds.ts'
import {
  byStrategy,
  type MaterialisedName,
  materialisedNames,
} from '../../src/timeline/strategies/list.ts'
import { type BenchDatabase, openBenchDatabase, openServices } from '../database.ts'
import { fillerPosts, insertInBatches } from './bulk-data.ts'

/** The collection of entries of each strategy that stores timelines. */
export const collectionNames = byStrategy(({ storedForm }) => storedForm.collection)

/** The environment variables of the benchmark. Entries embed author and text, as Socialite's do. */
export const feedEnv = {
  FEED_MAINTAINED: materialisedNames.join(','),
  FEED_STRATEGY: 'FANOUT_ON_READ',
  TIMELINE_ENTRIES: 'text',
} as const

/** A database whose maintained strategies can be changed. */
export interface FeedsDatabase extends BenchDatabase {
  /**
   * The registrations of all strategies. They were created before the first user, so every reader
   * is covered.
   */
  readonly registered: readonly StrategyDoc[]
}

/** Creates a new database, and services that can maintain all strategies. */
export async function openFeedsDatabase(log: (line: string) => void): Promise<FeedsDatabase> {
  const database = await openBenchDatabase(log, feedEnv, { socketTimeoutMS: 60_000 })
  await registerStrategies(database.services, materialisedNames)
  const registered = await database.services.collections.strategies.find().toArray()
  return { ...database, registered }
}

/**
 * Opens services on the same database with command monitoring, which slows each command down a
 * little.
 */
export async function openMonitored({ uri, db }: BenchDatabase) {
  const monitored = await openServices(uri, db.databaseName, feedEnv, { monitorCommands: true })
  return { uri, ...monitored, [Symbol.asyncDispose]: () => monitored.client.close() }
}

/**
 * Back-fills all strategies with posts that were inserted without deliveries, as after an import.
 */
export async function backfill(database: FeedsDatabase): Promise<void> {
  const { services } = database
  await maintainOnly(database, materialisedNames)
  for (const name of materialisedNames) await services.registrations.rebuild(name)
  await runDueJobs(services)
}

/** The log of services and workers. It shows only warnings and errors. */
export const serviceLog = pino({ level: 'warn' }, pino.destination(2))

/** Creates a worker with the options of `feedline serve`. */
export const createWorker = ({ queue, tasks }: Services): Worker =>
  new Worker(queue, tasks, serviceLog, {
    concurrency: 4,
    pollMs: 1_000,
    leaseMs: 30_000,
  })

/** Runs all due jobs with a worker. */
export const runDueJobs = (services: Services): Promise<void> => createWorker(services).drain()

/** Maintains only these strategies from now on. Keeps their stored entries as they are. */
export async function maintainOnly(
  { services, registered }: FeedsDatabase,
  names: readonly MaterialisedName[],
): Promise<void> {
  const { strategies } = services.collections
  const wanted = registered.filter(({ _id }) => (names as readonly string[]).includes(_id))
  // No page is read under the registrations of before.
  await services.registrations.runExclusive(async (tx) => {
    await strategies.deleteMany({}, tx)
    if (wanted.length > 0) await strategies.insertMany(wanted, tx)
  })
  await services.registry.read()
}

/** Deletes all stored entries except caches. It drops the collections, which is fast. */
export async function clearBuckets({ db }: FeedsDatabase): Promise<void> {
  for (const name of Object.values(collectionNames))
    if (name !== 'timeline_cache') await db.dropCollection(name)
  await applyIndexes(db, 'collection')
}

/**
 * Gives each user a full cache of entries without posts. So each delivery also removes an entry.
 */
export async function fillCaches(
  { services, registered }: FeedsDatabase,
  users: readonly UserId[],
): Promise<void> {
  const epoch = registered.find(({ _id }) => _id === 'CACHE')?.epoch ?? new ObjectId()
  const entries = fillerPosts
    .map(({ _id, author, text }) => ({ post: _id, author, text }))
    .reverse()
  const floor = entries.at(-1)?.post ?? new ObjectId()
  const expiresAt = new Date(Date.now() + 86_400_000)
  await insertInBatches(services.collections.timeline_cache, users, (_id) => ({
    ...{ _id, epoch, entries, floor, expiresAt },
  }))
}

/**
 * Counts the entries of these posts, without the entries of their authors. Counts each pair of
 * reader and post once.
 */
export async function countEntries(
  { collections }: Services,
  strategy: MaterialisedName,
  authors: ReadonlyMap<string, UserId>,
): Promise<number> {
  const [post, reader] = entryPaths(strategy)
  const unwind = post.startsWith('entries') ? [{ $unwind: '$entries' }] : []
  const found = await collections[collectionNames[strategy]]
    .aggregate<{ _id: { post: ObjectId; reader: string } }>([
      ...unwind,
      { $match: { [post]: { $in: [...authors.keys()].map((id) => new ObjectId(id)) } } },
      { $group: { _id: { post: `$${post}`, reader: `$${reader}` } } },
    ])
    .toArray()
  return found.filter(({ _id }) => authors.get(_id.post.toHexString()) !== _id.reader).length
}

/** The paths of the post and of the reader in the documents of a strategy. */
export function entryPaths(strategy: MaterialisedName): readonly [post: string, reader: string] {
  const { shape } = catalogue('collection')[collectionNames[strategy]]
  const { _id, reader, entries } = shape?.properties ?? {}
  const ofReader = reader ? 'reader' : _id?.properties ? '_id.reader' : '_id'
  return [entries ? 'entries.post' : '_id.post', ofReader]
}
