import { randomAt } from '../../packages/drive/random.ts'
import type { PostId, PostRef, UserId } from '../../src/lib/ids.ts'
import {
  type FeedStrategyName,
  feedStrategyNames,
  isMaterialised,
} from '../../src/timeline/strategies/list.ts'
import type { Child } from '../child-process.ts'
import type { FeedsDatabase } from '../feeds/feeds-database.ts'
import { sizeOf } from '../options.ts'
import { fillCaches } from './caches.ts'
import { audiencesOf, type ConstantsGraph, followeeCounts } from './graphs.ts'
import { createTexts, requests } from './requests.ts'
import {
  type Cost,
  connectionsOfLargePosts,
  divideCost,
  type LoadRequest,
  openStrategyServices,
  prepareStrategy,
  startMeasuredServer,
} from './system.ts'
import { measureCacheBytes, measureEntryBytes } from './timeline-storage.ts'

/**
 * The number of posts that are measured with each audience: so that each audience gets thousands of
 * deliveries.
 */
const postsPerAudience = [384, 192, 48, 12] as const
/** The other operations, and how many are enough to run each once. */
const operations = {
  warmUpPosts: [512, 20],
  pages: [320, 20],
  polls: [320, 20],
  follows: [192, 10],
} as const
const keptRepeats = 4
/** After these requests, memory has all that the next ones need. */
const requestsUntilKept = 3

/** Followers from which few posts are made at once. */
const largeAudience = 1_000

/** What a strategy costs. An operation is measured while 16 run at once. */
export interface MeasuredStrategy {
  /** A post with its deliveries, by number of followers. */
  readonly post: Readonly<Record<string, Cost>>
  /** A page of 20 posts that is read, by number of followees. */
  readonly page: Readonly<Record<string, Cost>>
  /** A page of 20 posts for which nothing has changed, answered from memory. */
  readonly pageKept: Cost
  /** A poll that is read, and has nothing new. */
  readonly poll: Cost
  /** A poll for which nothing has changed, answered from memory. */
  readonly pollKept: Cost
  /** A follow with its back-fill of six posts. */
  readonly follow: Cost
  /** The bytes on disk of one stored entry, or of one cache. 0 if the strategy stores nothing. */
  readonly bytesPerStored: number
}

/** What the measurement of a strategy works with. */
export interface StrategyContext {
  readonly database: FeedsDatabase
  readonly graph: ConstantsGraph
  readonly history: readonly PostRef[]
  readonly load: Child
  readonly built: string
  readonly isSmallest: boolean
  readonly log: (line: string) => void
}

/** Measures all operations of a strategy, on timelines that the measured posts fill. */
export async function measureStrategy(
  strategy: FeedStrategyName,
  context: StrategyContext,
): Promise<MeasuredStrategy> {
  const { database, graph, history, load, built, log } = context
  const countOf = (name: keyof typeof operations) =>
    sizeOf(context, operations[name][0], operations[name][1])
  const [pages, polls] = [countOf('pages'), countOf('polls')]
  await prepareStrategy(database, strategy)
  // The readers whose pages are measured build their own caches, in the warm-up.
  const withoutPages = graph.users.slice(0, -graph.readers.flat().length)
  if (strategy === 'CACHE') await fillCaches(database, withoutPages, history)
  // Before the measured posts, which are the same in many caches.
  const cacheBytes = strategy === 'CACHE' ? await measureCacheBytes(database) : 0
  await fillTimelines(database, strategy, graph.readers.flat())
  await using server = await startMeasuredServer(database, load, strategy, {
    ...{ built, pageCacheMb: 0 },
  })
  const readers = graph.readers.flat()
  await server.measure(createPosts(graph.authors[0] ?? [], countOf('warmUpPosts')))
  await server.measure(repeat(readers, pages).map(requests.page))
  const post: Record<string, Cost> = {}
  for (const [at, audience] of audiencesOf(context).entries()) {
    const count = sizeOf(context, postsPerAudience[at] ?? 0, 2)
    const together = audience >= largeAudience ? connectionsOfLargePosts : undefined
    const cost = await server.measure(createPosts(graph.authors[at] ?? [], count), together)
    post[audience] = divideCost(cost, count)
    log(`${strategy}: a post to ${audience} followers ${format(post[audience])}`)
  }
  const page: Record<string, Cost> = {}
  for (const [at, count] of followeeCounts.entries()) {
    const cost = await server.measure(repeat(graph.readers[at] ?? [], pages).map(requests.page))
    page[count] = divideCost(cost, pages)
    log(`${strategy}: a page with ${count} followees ${format(page[count])}`)
  }
  const newest = await findNewestPost(database)
  const pollAll = repeat(readers, polls).map((reader) => requests.poll(reader, newest))
  const poll = divideCost(await server.measure(pollAll), polls)
  const followAll = createFollows(graph, strategy, countOf('follows'))
  const follow = divideCost(await server.measure(followAll), followAll.length)
  log(`${strategy}: a poll ${format(poll)}, a follow ${format(follow)}`)
  const kept = await measureKept(strategy, context, newest)
  const bytesPerStored =
    isMaterialised(strategy) && strategy !== 'CACHE'
      ? await measureEntryBytes(database, strategy, graph, history)
      : cacheBytes
  log(`${strategy}: ${bytesPerStored.toFixed(1)} bytes on disk for each entry or cache`)
  return { post, page, ...kept, poll, follow, bytesPerStored }
}

/** Measures pages and polls that a server answers from memory. */
async function measureKept(
  strategy: FeedStrategyName,
  { database, graph, load, built, log }: StrategyContext,
  newest: PostId,
): Promise<Pick<MeasuredStrategy, 'pageKept' | 'pollKept'>> {
  await using server = await startMeasuredServer(database, load, strategy, {
    ...{ built, pageCacheMb: 64 },
  })
  const readers = graph.readers.slice(0, 2).flat()
  const measureRepeated = async (each: (reader: UserId) => LoadRequest) => {
    for (let times = 0; times < requestsUntilKept; times++) await server.measure(readers.map(each))
    const count = readers.length * keptRepeats
    return divideCost(await server.measure(repeat(readers, count).map(each)), count)
  }
  const pageKept = await measureRepeated(requests.page)
  const pollKept = await measureRepeated((reader) => requests.poll(reader, newest))
  log(`${strategy}: from memory a page ${format(pageKept)}, a poll ${format(pollKept)}`)
  return { pageKept, pollKept }
}

/** Back-fills the timelines of readers whose followees posted before. */
async function fillTimelines(
  database: FeedsDatabase,
  strategy: FeedStrategyName,
  readers: readonly UserId[],
): Promise<void> {
  const { client, services } = await openStrategyServices(database, strategy)
  const { signal } = new AbortController()
  for (const reader of readers) await services.backfill.refillReader(reader, signal)
  await client.close()
}

/** Requests that create posts of the authors in turn. */
export const createPosts = (authors: readonly UserId[], count: number): LoadRequest[] => {
  const texts = createTexts(count)
  return repeat(authors, count).map((author, at) => requests.post(author, texts[at] ?? ''))
}

/** Requests that follow random users, others for each strategy. Few of the pairs exist already. */
export const createFollows = (
  { users }: Pick<ConstantsGraph, 'users'>,
  strategy: FeedStrategyName,
  count: number,
): LoadRequest[] =>
  Array.from({ length: count }, (_, at) => {
    const seed = 3 + feedStrategyNames.indexOf(strategy)
    const follower = Math.floor(randomAt(seed, at, 0) * users.length)
    const followee =
      (follower + 1 + Math.floor(randomAt(seed, at, 1) * (users.length - 1))) % users.length
    return requests.follow(users[follower] as UserId, users[followee] as UserId)
  })

/** `count` values, in turn from `values`. */
export const repeat = <T>(values: readonly T[], count: number): T[] =>
  Array.from({ length: count }, (_, at) => values[at % values.length] as T)

/** The newest post of the database. */
export async function findNewestPost({ services }: FeedsDatabase): Promise<PostId> {
  const [newest] = await services.collections.posts.find().sort({ _id: -1 }).limit(1).toArray()
  return newest?._id.toHexString() as PostId
}

/** A cost as text. */
export const format = ({ serverUs, mongodUs, oplogBytes, writes }: Cost): string =>
  `${serverUs.toFixed(0)} + ${mongodUs.toFixed(0)} µs, ${oplogBytes.toFixed(0)} bytes of oplog, ${writes.toFixed(1)} writes`
