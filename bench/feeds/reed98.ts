import type { ObjectId } from 'mongodb'
import { toObjectId } from '../../src/db/object-id.ts'
import { type PostId, timeIdAt, type UserId } from '../../src/lib/ids.ts'
import type { BenchOptions } from '../options.ts'
import { buildServer } from './build.ts'
import { storeGraph, storePosts } from './bulk-data.ts'
import { deliveriesPerSecond, measureDeliveries, type Rates, selectAuthors } from './deliveries.ts'
import { backfill, clearBuckets, type FeedsDatabase, openFeedsDatabase } from './feeds-database.ts'
import { loadReed98 } from './graph.ts'
import { type MixedWorkloadResult, measureMixedWorkload } from './mixed-workload-rounds.ts'
import { measureServicePages, type PageResults, selectReaders } from './pages.ts'
import { type HttpResults, openHttpBenchmark } from './pages-http.ts'
import { fillSocialiteCaches } from './socialite.ts'

/** The results on Reed98, one value per round. */
export interface Reed98Results {
  readonly rates: Rates
  readonly service: readonly PageResults[]
  readonly http: readonly HttpResults[]
  readonly mix: readonly MixedWorkloadResult[]
}

const postsPerUser = 8
/** Each person follows 70: their posts fill the eleven pages of a reader. */
const smallestRing = [75, 35] as const
const readersMax = 24
const mixRoundsMax = 3

/**
 * Measures deliveries, then pages and the mixed workload on a history of eight posts per user.
 * @returns undefined if the file of the graph does not exist.
 */
export async function runReed98(options: BenchOptions): Promise<Reed98Results | undefined> {
  const { log, rounds, ms } = options
  const graph = await loadReed98(options, smallestRing)
  if (!graph) return undefined
  await using database = await openFeedsDatabase(log)
  await storeGraph(database, graph)
  const authors = selectAuthors(graph, (deliveriesPerSecond * ms) / 1000)
  const rates = await measureDeliveries(database, graph, authors, options)
  await storeHistory(database, graph.users, log)
  const { service, http } = await measurePages(database, graph.users, options)
  const mix: MixedWorkloadResult[] = []
  for (let round = 1; round <= Math.min(rounds, mixRoundsMax); round++) {
    log(`mixed workload, round ${round}`)
    mix.push(await measureMixedWorkload(database, graph, idAfterHistory(), options))
  }
  return { rates, service, http, mix }
}

async function measurePages(
  database: FeedsDatabase,
  users: readonly UserId[],
  { log, rounds, ms, warmUpMs }: BenchOptions,
) {
  const readers = await selectReaders(database, users, readersMax)
  const [service, http]: [PageResults[], HttpResults[]] = [[], []]
  await using httpBenchmark = await openHttpBenchmark(database, readers, await buildServer())
  log('pages, warm-up')
  await httpBenchmark.warmUp(warmUpMs)
  for (let round = 1; round <= rounds; round++) {
    log(`pages, round ${round} of ${rounds}`)
    service.push(await measureServicePages(database, readers, ms))
    http.push(await httpBenchmark.measureRound(ms))
  }
  return { service, http }
}

/** Replaces all posts by eight posts per user, and back-fills all strategies. */
async function storeHistory(
  database: FeedsDatabase,
  users: readonly UserId[],
  log: (line: string) => void,
): Promise<void> {
  const { posts, user_stats, timeline_cache } = database.services.collections
  await posts.deleteMany({})
  await user_stats.updateMany({}, { $set: { posts: 0 } })
  await timeline_cache.deleteMany({})
  await clearBuckets(database)
  await storePosts(database, users, postsPerUser)
  const begin = performance.now()
  await backfill(database)
  log(`back-filled in ${((performance.now() - begin) / 1000).toFixed(1)} s`)
  await fillSocialiteCaches(database.db, users)
}

const minuteMs = 60_000

/** An id after the history, which ends an hour ago, and before all new posts. */
const idAfterHistory = (): ObjectId =>
  toObjectId(timeIdAt<PostId>(Date.now() - 30 * minuteMs, '0'.repeat(12)))
