import type { UserId } from '../../src/lib/ids.ts'
import type { BenchOptions } from '../options.ts'
import { type CreateTimes, measureCreatePost } from './create-post.ts'
import { deliveriesASecond, measureDeliveries, type Rates } from './deliveries.ts'
import { authorsOf, zipfGraph } from './graph.ts'
import { type Growth, measureDeliveryGrowth } from './growth.ts'
import { openFeeds } from './ours.ts'
import { storeGraph } from './store.ts'

/** What the graph with celebrities gave, a value a round. */
export interface ZipfResults {
  readonly rates: Rates
  readonly create: readonly CreateTimes[]
  readonly growth: readonly Growth[]
}

/** Posts of one author with 20,000 followers, one with 1,000, and ten of one with ten. */
export async function onZipf(options: BenchOptions): Promise<ZipfResults> {
  const { say, rounds, ms } = options
  await using database = await openFeeds(say)
  const graph = zipfGraph()
  say(`storing a graph of ${graph.people.length} people with celebrities`)
  await storeGraph(database, graph)
  const { celebrity, thousand, ten } = authorsOf
  const some: UserId[] = [celebrity, thousand, ...Array.from({ length: 10 }, () => ten)]
  const times = Math.max(1, Math.round((ms * deliveriesASecond) / 1000 / celebrityFollowers))
  const authors = Array.from({ length: times }, () => some).flat()
  const rates = await measureDeliveries(database, graph, authors, options)
  const create: CreateTimes[] = []
  for (let round = 0; round < rounds; round++) {
    create.push(await measureCreatePost(database, options))
  }
  const growth = await measureDeliveryGrowth(database, graph, options)
  return { rates, create, growth }
}

const celebrityFollowers = 20_000
