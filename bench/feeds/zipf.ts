import type { UserId } from '../../src/lib/ids.ts'
import type { BenchOptions } from '../options.ts'
import { storeGraph } from './bulk-data.ts'
import { type CreatePostLatencies, measureCreatePost } from './create-post.ts'
import { deliveriesPerSecond, measureDeliveries, type Rates } from './deliveries.ts'
import { openFeedsDatabase } from './feeds-database.ts'
import { celebrityFollowersOf, createZipfGraph, sampleAuthors } from './graph.ts'
import { type GrowthRow, measureDeliveryGrowth } from './growth.ts'

/** The results on the graph with celebrities, one value per round. */
export interface ZipfResults {
  readonly rates: Rates
  readonly create: readonly CreatePostLatencies[]
  readonly growth: readonly GrowthRow[]
}

/**
 * Measures posts of authors with 20,000, 1,000 and 10 followers. The author with 10 followers has
 * ten posts in each set.
 */
export async function runZipf(options: BenchOptions): Promise<ZipfResults> {
  const { log, rounds, ms } = options
  await using database = await openFeedsDatabase(log)
  const graph = createZipfGraph(options)
  log(`storing a graph of ${graph.users.length} users with celebrities`)
  await storeGraph(database, graph)
  const { celebrity, thousand, ten } = sampleAuthors
  const postSet: UserId[] = [celebrity, thousand, ...Array.from({ length: 10 }, () => ten)]
  const followers = celebrityFollowersOf(options)
  const repeats = Math.max(1, Math.round((ms * deliveriesPerSecond) / 1000 / followers))
  const authors = Array.from({ length: repeats }, () => postSet).flat()
  const rates = await measureDeliveries(database, graph, authors, options)
  const create: CreatePostLatencies[] = []
  for (let round = 0; round < rounds; round++) {
    create.push(await measureCreatePost(database, options))
  }
  const growth = await measureDeliveryGrowth(database, graph, options)
  return { rates, create, growth }
}
