import { ObjectId } from 'mongodb'
import { pino } from 'pino'
import type { StrategyDoc } from '../../src/db/collections.ts'
import { applyIndexes } from '../../src/db/indexes.ts'
import { registerStrategies } from '../../src/feed/feeds.ts'
import type { FeedStrategyName } from '../../src/feed/strategies/list.ts'
import { Worker } from '../../src/jobs/worker.ts'
import type { UserId } from '../../src/lib/ids.ts'
import type { Services } from '../../src/services.ts'
import { type BenchDatabase, openBench, openServices } from '../database.ts'
import { fillerPosts, insert } from './store.ts'

/** The strategies that store something, with what they store an entry in. */
export const stored = {
  TIME_BUCKETS: 'timed_buckets',
  SIZED_BUCKETS: 'sized_buckets',
  CACHE: 'timeline_cache',
  INBOX: 'inbox',
  HYBRID: 'inbox',
} as const satisfies Partial<Record<FeedStrategyName, string>>
export type StoredStrategy = keyof typeof stored
export const storedStrategies = Object.keys(stored) as StoredStrategy[]

/** As the benchmarks configure the server: entries embed author and text, as Socialite's do. */
export const feedEnv = {
  FEED_MAINTAINED: storedStrategies.join(','),
  FEED_STRATEGY: 'FANOUT_ON_READ',
  TIMELINE_ENTRIES: 'text',
} as const

/** A database on which strategies are switched. */
export interface FeedsDatabase extends BenchDatabase {
  /** Each strategy's registration, made while there was nobody: complete. */
  readonly registered: readonly StrategyDoc[]
}

/** A fresh database, and services that can maintain every strategy. */
export async function openFeeds(say: (line: string) => void): Promise<FeedsDatabase> {
  const database = await openBench(say, feedEnv, { socketTimeoutMS: 60_000 })
  await registerStrategies(database.services, storedStrategies)
  const registered = await database.services.collections.strategies.find().toArray()
  return { ...database, registered }
}

/** The same services on a client whose commands can be watched, which costs each of them something. */
export async function openWatched({ uri, db }: BenchDatabase) {
  const watched = await openServices(uri, db.databaseName, feedEnv, { monitorCommands: true })
  return { uri, ...watched, [Symbol.asyncDispose]: () => watched.client.close() }
}

/** Has every strategy back-filled with what was stored past it, as after an import. */
export async function backfill(database: FeedsDatabase): Promise<void> {
  const { services } = database
  await maintain(database, storedStrategies)
  // HYBRID reads what INBOX stores.
  for (const name of storedStrategies) {
    if (name !== 'HYBRID') await services.registrations.rebuild(name)
  }
  await drain(services)
}

/** Tells of failures alone. */
export const log = pino({ level: 'warn' }, pino.destination(2))

/** A worker as `feedline serve` has one. */
export const workerOf = ({ queue, tasks }: Services): Worker =>
  new Worker(queue, tasks, log, {
    concurrency: 4,
    pollMs: 1_000,
    leaseMs: 30_000,
  })

/** Runs all jobs that are due, as a worker does. */
export const drain = (services: Services): Promise<void> => workerOf(services).drain()

/** Has deliveries go to these strategies alone. What they hold already is the caller's to see to. */
export async function maintain(
  { services, registered }: FeedsDatabase,
  names: readonly StoredStrategy[],
): Promise<void> {
  const { strategies } = services.collections
  await strategies.deleteMany({})
  const wanted = registered.filter(({ _id }) => (names as readonly string[]).includes(_id))
  if (wanted.length > 0) await strategies.insertMany(wanted)
}

/** Removes all that strategies have stored, but not caches: whole collections, which takes no time. */
export async function clearBuckets({ db }: FeedsDatabase): Promise<void> {
  for (const name of ['timed_buckets', 'sized_buckets', 'inbox']) await db.dropCollection(name)
  await applyIndexes(db, 'collection')
}

/** Gives everybody a full cache of posts that there never were, so that deliveries push out as many as they add. */
export async function fillCaches(
  { services, registered }: FeedsDatabase,
  people: readonly UserId[],
): Promise<void> {
  const epoch = registered.find(({ _id }) => _id === 'CACHE')?.epoch ?? new ObjectId()
  const entries = fillerPosts
    .map(({ _id, author, text }) => ({ post: _id, author, text }))
    .reverse()
  const floor = entries.at(-1)?.post ?? new ObjectId()
  const expiresAt = new Date(Date.now() + 86_400_000)
  await insert(services.collections.timeline_cache, people, (_id) => ({
    ...{ _id, epoch, entries, floor, expiresAt },
  }))
}

/** How many entries of these posts others than their authors have, each counted once a reader. */
export async function entriesOf(
  { collections }: Services,
  strategy: StoredStrategy,
  authors: ReadonlyMap<string, UserId>,
): Promise<number> {
  const [post, reader] = places[stored[strategy]]
  const unwind = post.startsWith('entries') ? [{ $unwind: '$entries' }] : []
  const found = await collections[stored[strategy]]
    .aggregate<{ _id: { post: ObjectId; reader: string } }>([
      ...unwind,
      { $match: { [post]: { $in: [...authors.keys()].map((id) => new ObjectId(id)) } } },
      { $group: { _id: { post: `$${post}`, reader: `$${reader}` } } },
    ])
    .toArray()
  return found.filter(({ _id }) => authors.get(_id.post.toHexString()) !== _id.reader).length
}

/** Where an entry names its post, and where its reader is named. */
export const places = {
  timed_buckets: ['entries.post', '_id.reader'],
  sized_buckets: ['entries.post', 'reader'],
  timeline_cache: ['entries.post', '_id'],
  inbox: ['_id.post', '_id.reader'],
} as const
