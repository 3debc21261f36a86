import type { ObjectId } from 'mongodb'
import { toObjectId } from '../../src/db/object-id.ts'
import { type PostId, timeIdAt, type UserId } from '../../src/lib/ids.ts'
import type { BenchOptions } from '../options.ts'
import { build } from './built.ts'
import { authorsFor, deliveriesASecond, measureDeliveries, type Rates } from './deliveries.ts'
import { reed98 } from './graph.ts'
import { type MixResult, measureMix } from './mix-rounds.ts'
import { backfill, clearBuckets, type FeedsDatabase, openFeeds } from './ours.ts'
import { measureService, type PageLoads, readersAmong } from './pages.ts'
import { type HttpLoads, openHttp } from './pages-http.ts'
import { fillSocialite } from './socialite.ts'
import { storeGraph, storePosts } from './store.ts'

/** What Reed98 gave, a value a round. */
export interface ReedResults {
  readonly rates: Rates
  readonly service: readonly PageLoads[]
  readonly http: readonly HttpLoads[]
  readonly mix: readonly MixResult[]
}

const postsEach = 8
const readersMax = 24
const mixRoundsMax = 3

/** Deliveries, then pages of and a mix on a history of eight posts each; undefined where the file is not there. */
export async function onReed98(options: BenchOptions): Promise<ReedResults | undefined> {
  const { say, rounds, ms } = options
  const graph = await reed98(options.graph)
  if (!graph) return undefined
  await using database = await openFeeds(say)
  await storeGraph(database, graph)
  const authors = authorsFor(graph, (deliveriesASecond * ms) / 1000)
  const rates = await measureDeliveries(database, graph, authors, options)
  await storeHistory(database, graph.people, say)
  const { service, http } = await readPages(database, graph.people, options)
  const mix: MixResult[] = []
  for (let round = 1; round <= Math.min(rounds, mixRoundsMax); round++) {
    say(`mix, round ${round}`)
    mix.push(await measureMix(database, graph, afterHistory(), options))
  }
  return { rates, service, http, mix }
}

async function readPages(
  database: FeedsDatabase,
  people: readonly UserId[],
  { say, rounds, ms }: BenchOptions,
) {
  const readers = await readersAmong(database, people, readersMax)
  const [service, http]: [PageLoads[], HttpLoads[]] = [[], []]
  await using side = await openHttp(database, readers, await build())
  for (let round = 1; round <= rounds; round++) {
    say(`pages, round ${round} of ${rounds}`)
    service.push(await measureService(database, readers, ms))
    http.push(await side.measure(ms))
  }
  return { service, http }
}

/** Eight posts each, in every strategy. */
async function storeHistory(
  database: FeedsDatabase,
  people: readonly UserId[],
  say: (line: string) => void,
): Promise<void> {
  const { posts, user_stats, timeline_cache } = database.services.collections
  await posts.deleteMany({})
  await user_stats.updateMany({}, { $set: { posts: 0 } })
  await timeline_cache.deleteMany({})
  await clearBuckets(database)
  await storePosts(database, people, postsEach)
  const begin = performance.now()
  await backfill(database)
  say(`back-filled in ${((performance.now() - begin) / 1000).toFixed(1)} s`)
  await fillSocialite(database.db, people)
}

const minuteMs = 60_000

/** An id between the history, which ends an hour ago, and whatever is posted now. */
const afterHistory = (): ObjectId =>
  toObjectId(timeIdAt<PostId>(Date.now() - 30 * minuteMs, '0'.repeat(12)))
