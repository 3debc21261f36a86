import { chunks } from '../../src/lib/batch.ts'
import type { PostRef, UserId } from '../../src/lib/ids.ts'
import type { MaterialisedName } from '../../src/timeline/strategies/list.ts'
import { collectionNames, entryPaths, type FeedsDatabase } from '../feeds/feeds-database.ts'
import { type ConstantsGraph, followeesEach } from './graphs.ts'
import { measureStorage } from './storage.ts'
import { openStrategyServices, prepareStrategy } from './system.ts'

/** Readers whose timelines are stored. All are authors too. */
const readerCount = 1_000
const deliveriesAtOnce = 16

/**
 * Measures the bytes on disk of one entry: 1,000 users get the posts of 20 others each, in the
 * order of time. So each timeline has other posts, and their entries arrive in turn.
 */
export async function measureEntryBytes(
  database: FeedsDatabase,
  strategy: Exclude<MaterialisedName, 'CACHE'>,
  { ordinary }: ConstantsGraph,
  history: readonly PostRef[],
): Promise<number> {
  await prepareStrategy(database, strategy)
  const { client, services } = await openStrategyServices(database, strategy)
  const registration = (await services.registry.read()).get(strategy)
  if (!registration) throw new Error(`${strategy} is not registered`)
  const readers = ordinary.slice(0, readerCount)
  const places = new Map(readers.map((reader, at) => [reader, at]))
  const followersOf = (place: number) =>
    Array.from(
      { length: followeesEach },
      (_, n) => readers[(place + (n + 1) ** 2) % readerCount] as UserId,
    )
  const posts = history.filter(({ author }) => places.has(author))
  for (const batch of chunks(posts, deliveriesAtOnce)) {
    const deliveries = batch.map((post) => {
      const audience = followersOf(places.get(post.author) ?? 0)
      return services.strategies[strategy].deliver(post, audience, registration)
    })
    await Promise.all(deliveries)
  }
  await client.close()
  const { [collectionNames[strategy]]: stored } = await measureStorage(database, [
    collectionNames[strategy],
  ])
  return stored.total / (await countStored(database, strategy, stored.documents))
}

/** The bytes on disk of one full cache. */
export async function measureCacheBytes(database: FeedsDatabase): Promise<number> {
  const { timeline_cache } = await measureStorage(database, ['timeline_cache'])
  return timeline_cache.total / timeline_cache.documents
}

/** The number of entries, or of caches, among `documents`. */
export async function countStored(
  { db }: FeedsDatabase,
  strategy: MaterialisedName,
  documents: number,
): Promise<number> {
  if (strategy === 'CACHE' || entryPaths(strategy)[0] !== 'entries.post') return documents
  const [sum] = await db
    .collection(collectionNames[strategy])
    .aggregate<{ entries: number }>([
      { $group: { _id: null, entries: { $sum: { $size: '$entries' } } } },
    ])
    .toArray()
  return sum?.entries ?? 0
}
