import { ObjectId } from 'mongodb'
import type { UserId } from '../../src/lib/ids.ts'
import type { MaterialisedName } from '../../src/timeline/strategies/list.ts'
import type { BenchOptions } from '../options.ts'
import { postText } from './bulk-data.ts'
import {
  clearBuckets,
  countEntries,
  type FeedsDatabase,
  fillCaches,
  maintainOnly,
  runDueJobs,
} from './feeds-database.ts'
import { type Graph, shuffleUsers } from './graph.ts'
import {
  fillSocialiteCaches,
  openSocialiteStrategies,
  type SocialiteStrategy,
} from './socialite.ts'

/** The number of deliveries of each strategy in one round, per second of `--seconds`. */
export const deliveriesPerSecond = 10_000

/** The strategies that store each delivery. */
export const measuredStrategies = ['TIME_BUCKETS', 'SIZED_BUCKETS', 'CACHE', 'INBOX'] as const

/** Deliveries per second by implementation and strategy, one value per round. */
export type Rates = Readonly<Record<string, number[]>>

/**
 * Measures deliveries per second of Feedline and Socialite in turn: posts of the same authors to
 * the same followers. Each measurement begins with empty buckets and full caches. A rate is 0
 * unless every follower has every post afterwards.
 */
export async function measureDeliveries(
  database: FeedsDatabase,
  graph: Graph,
  authors: readonly UserId[],
  { rounds, log }: BenchOptions,
): Promise<Rates> {
  const strategies = openSocialiteStrategies(database.db)
  await fillCaches(database, graph.users)
  await fillSocialiteCaches(database.db, graph.users)
  const expected = authors.reduce((sum, author) => sum + countFollowers(graph, author), 0)
  const rates: Record<string, number[]> = {}
  const recordRate = (name: string, seconds: number, entries: number) => {
    const isComplete = entries === expected
    const rate = isComplete ? Math.round(expected / seconds) : 0
    log(`${graph.name}: ${name} ${rate} deliveries/s`)
    if (!isComplete)
      log(`WRONG: ${name} stored ${entries} of ${expected} entries, so its rate is 0`)
    rates[name] = [...(rates[name] ?? []), rate]
  }
  for (let round = 1; round <= rounds; round++) {
    log(`${graph.name}: deliveries, round ${round} of ${rounds}, ${expected} each`)
    await clearBuckets(database)
    for (const strategy of measuredStrategies) {
      const { seconds, entries } = await measureFeedline(database, strategy, authors)
      recordRate(strategy, seconds, entries)
    }
    for (const [name, strategy] of Object.entries(strategies)) {
      await strategy.reset()
      const { seconds, entries } = await measureSocialite(database, strategy, authors)
      recordRate(`Socialite ${name}`, seconds, entries)
    }
  }
  return rates
}

/** The number of an author's followers. */
export const countFollowers = ({ followers }: Graph, author: UserId) =>
  followers.get(author)?.length ?? 0

/**
 * Selects authors in shuffled order until their followers add up to `deliveries`. The order is the
 * same in each run. No reader gets more than 50 posts, so that all fit into a cache.
 */
export function selectAuthors(graph: Graph, deliveries: number): UserId[] {
  const authors: UserId[] = []
  let sum = 0
  const deliveriesByReader = new Map<UserId, number>()
  for (const author of shuffleUsers(graph)) {
    if (sum >= deliveries) break
    const followers = graph.followers.get(author) ?? []
    if (followers.some((follower) => (deliveriesByReader.get(follower) ?? 0) >= 50)) continue
    for (const follower of followers)
      deliveriesByReader.set(follower, (deliveriesByReader.get(follower) ?? 0) + 1)
    authors.push(author)
    sum += followers.length
  }
  return authors
}

/**
 * Measures the delivery of a post of each author under one strategy. @returns the time and the
 * stored entries.
 */
export async function measureFeedline(
  database: FeedsDatabase,
  strategy: MaterialisedName,
  authors: readonly UserId[],
) {
  const { services } = database
  await maintainOnly(database, [strategy])
  const posts = new Map<string, UserId>()
  for (const [at, author] of authors.entries()) {
    posts.set((await services.posts.create(author, { text: postText(at) })).id, author)
  }
  if (!(await services.collections.outbox.findOne()))
    throw new Error(`${strategy}: no job is left for a worker`)
  const seconds = await measureSeconds(() => runDueJobs(services))
  return { seconds, entries: await countEntries(services, strategy, posts) }
}

async function measureSocialite(
  { services }: FeedsDatabase,
  strategy: SocialiteStrategy,
  authors: readonly UserId[],
) {
  const posts = authors.map((author, at) => ({ _id: new ObjectId(), _a: author, _m: postText(at) }))
  const followersOf = async (author: string) => {
    const found = await services.collections.followers
      .find({ user: author }, { hint: { user: 1, follower: 1 }, batchSize: 4_000 })
      .project<{ follower: UserId }>({ _id: 0, follower: 1 })
      .toArray()
    return found.map(({ follower }) => follower)
  }
  const seconds = await measureSeconds(() => strategy.deliverPosts(posts, followersOf))
  return { seconds, entries: await strategy.countEntries(posts.map(({ _id }) => _id)) }
}

async function measureSeconds(work: () => Promise<unknown>): Promise<number> {
  const begin = performance.now()
  await work()
  return (performance.now() - begin) / 1000
}
