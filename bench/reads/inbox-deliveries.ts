import { storeGraph } from '../feeds/bulk-data.ts'
import {
  countFollowers,
  deliveriesPerSecond,
  measureFeedline,
  selectAuthors,
} from '../feeds/deliveries.ts'
import { clearBuckets, openFeedsDatabase } from '../feeds/feeds-database.ts'
import type { Graph } from '../feeds/graph.ts'
import type { BenchOptions } from '../options.ts'

/**
 * Measures deliveries per second under INBOX in a database of its own, as the benchmark of timelines does.
 * @returns a value per round, undefined unless every follower has every post.
 */
export async function measureInboxDeliveries(
  graph: Graph,
  { rounds, ms, log }: BenchOptions,
): Promise<(number | undefined)[]> {
  await using database = await openFeedsDatabase(log)
  await storeGraph(database, graph)
  const authors = selectAuthors(graph, (deliveriesPerSecond * ms) / 1000)
  const expected = authors.reduce((sum, author) => sum + countFollowers(graph, author), 0)
  const rates: (number | undefined)[] = []
  for (let round = 1; round <= rounds; round++) {
    await clearBuckets(database)
    const { seconds, entries } = await measureFeedline(database, 'INBOX', authors)
    log(`inbox: ${Math.round(entries / seconds)} deliveries/s, ${entries} of ${expected} entries`)
    rates.push(entries === expected ? entries / seconds : undefined)
  }
  return rates
}
