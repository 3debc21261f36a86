import { ObjectId } from 'mongodb'
import { constants } from '../../packages/capacity/constants.ts'
import { sumCosts } from '../../packages/capacity/cost.ts'
import type { Degrees } from '../../packages/capacity/degrees.ts'
import type { CapacityInputs } from '../../packages/capacity/inputs.ts'
import { strategyLoad } from '../../packages/capacity/strategy-load.ts'
import { randomAt } from '../../packages/drive/random.ts'
import type { PostRef, UserId } from '../../src/lib/ids.ts'
import { type FeedStrategyName, isMaterialised } from '../../src/timeline/strategies/list.ts'
import type { Child } from '../child-process.ts'
import { collectionNames, countEntries, type FeedsDatabase } from '../feeds/feeds-database.ts'
import { sizeOf } from '../options.ts'
import { fillCaches } from './caches.ts'
import { countEdges, type NumberedGraph } from './graphs.ts'
import { createTexts, requests } from './requests.ts'
import { measureStorage } from './storage.ts'
import { createFollows, createPosts, findNewestPost, format, repeat } from './strategy-costs.ts'
import {
  type Cost,
  connectionsOfLargePosts,
  prepareStrategy,
  startMeasuredServer,
} from './system.ts'
import { countStored } from './timeline-storage.ts'

/** The fixed load of a graph, and what the model knows about the graph. */
export interface CheckedLoad {
  readonly graph: NumberedGraph
  readonly followers: Degrees
  readonly followees: Degrees
  readonly posts: number
  readonly pages: number
  readonly follows: number
  readonly authorBias: number
  /** The share of the users who have a cache. */
  readonly cacheShare: number
}

/** Figures of the load under one strategy. */
export interface Figures {
  readonly deliveries: number
  readonly timeline_bytes: number
  readonly server_cpu_us: number
  readonly mongod_cpu_us: number
  readonly oplog_bytes: number
}

/** What the check works with. */
export interface CheckContext {
  readonly database: FeedsDatabase
  readonly history: readonly PostRef[]
  readonly load: Child
  readonly built: string
  readonly isSmallest: boolean
  readonly log: (line: string) => void
}

/** The number of users whose pages are read. They read a page before the load. */
const readersMax = 320
const warmUp = { posts: [512, 20], pages: [640, 40] } as const

/** The model's prediction: the load as one second of a deployment. */
export function predictLoad(strategy: FeedStrategyName, checked: CheckedLoad): Figures {
  const { followers, followees, posts, pages, follows, authorBias } = checked
  const inputs: CapacityInputs = {
    ...{ followers, followees, authorBias },
    ...{ postsPerSecond: posts, readsPerSecond: pages, followsPerSecond: follows },
    ...{ pollsPerSecond: 0, likesPerSecond: 0, unchangedShare: 0, inlineMax: 2_000 },
    // The caches are full from the beginning.
    days: strategy === 'CACHE' ? 365 : 1 / 86_400,
    activeShare: checked.cacheShare,
    entryDays: Number.POSITIVE_INFINITY,
    ...{ coresPerShard: 1, diskGbPerShard: 1, usableShare: 1 },
  }
  const derived = strategyLoad(strategy, inputs, constants)
  const cost = sumCosts([derived.requests, derived.deliveries])
  return {
    deliveries: derived.deliveriesPerSecond,
    timeline_bytes: derived.timelineBytes,
    server_cpu_us: cost.serverUs,
    mongod_cpu_us: cost.mongodUs,
    oplog_bytes: cost.oplogBytes,
  }
}

/** Runs the load under one strategy, and measures it. */
export async function measureLoad(
  strategy: FeedStrategyName,
  checked: CheckedLoad,
  { database, history, load, built, log, isSmallest }: CheckContext,
): Promise<Figures> {
  const warmUpOf = (name: keyof typeof warmUp) =>
    sizeOf({ isSmallest }, warmUp[name][0], warmUp[name][1])
  const { graph } = checked
  await prepareStrategy(database, strategy)
  // At random: the followers of a generated graph are equal steps apart.
  const withCache = graph.users.filter((_, at) => randomAt(7, at, 0) < checked.cacheShare)
  // Readers of pages build their own caches, in the warm-up.
  const readers = withCache.slice(0, readersMax)
  if (strategy === 'CACHE') await fillCaches(database, withCache.slice(readersMax), history)
  await using server = await startMeasuredServer(database, load, strategy, {
    ...{ built, pageCacheMb: 0 },
  })
  await server.measure(repeat(readers, warmUpOf('pages')).map(requests.page))
  await server.measure(createPosts(graph.users.slice(-1_000), warmUpOf('posts')))
  const before = await findNewestPost(database)
  const texts = createTexts(checked.posts)
  const parts = [
    ['posts', selectAuthors(checked).map((author, at) => requests.post(author, texts[at] ?? ''))],
    ['pages', repeat(readers, checked.pages).map(requests.page)],
    ['follows', createFollows(graph, strategy, checked.follows)],
  ] as const
  const costs: Cost[] = []
  let deliveries = 0
  let timelineBytes = 0
  for (const [name, part] of parts) {
    const isLarge = name === 'posts' && checked.authorBias > 0
    const cost = await server.measure(part, isLarge ? connectionsOfLargePosts : undefined)
    log(`${graph.name}, ${strategy}: ${part.length} ${name} ${format(cost)}`)
    costs.push(cost)
    // Follows add entries too.
    if (name !== 'posts' || !isMaterialised(strategy)) continue
    const created = await database.services.collections.posts
      .find({ _id: { $gt: new ObjectId(before) } }, { projection: { author: 1 } })
      .toArray()
    const authors = new Map(created.map(({ _id, author }) => [_id.toHexString(), author as UserId]))
    deliveries = await countEntries(database.services, strategy, authors)
    timelineBytes = await measureTimelines(database, strategy, deliveries + created.length)
  }
  const cost = sumCosts(costs)
  return {
    deliveries,
    timeline_bytes: timelineBytes,
    server_cpu_us: cost.serverUs,
    mongod_cpu_us: cost.mongodUs,
    oplog_bytes: cost.oplogBytes,
  }
}

/** The bytes of stored timelines, without the share of entries that the warm-up made. */
async function measureTimelines(
  database: FeedsDatabase,
  strategy: Exclude<FeedStrategyName, 'FANOUT_ON_READ'>,
  entries: number,
): Promise<number> {
  const name = collectionNames[strategy]
  const { [name]: stored } = await measureStorage(database, [name])
  if (strategy === 'CACHE') return stored.total
  const share = entries / (await countStored(database, strategy, stored.documents))
  return stored.total * share
}

/** Authors of posts: each has a share in proportion to followers^bias, without chance. */
function selectAuthors({ graph, posts, authorBias }: CheckedLoad): UserId[] {
  const followers = countEdges(graph, 'followers')
  const ranked = [...followers.keys()].sort((a, b) => (followers[b] ?? 0) - (followers[a] ?? 0))
  const weightOf = (user: number) => (followers[user] ?? 0) ** authorBias
  const sum = ranked.reduce((total, user) => total + weightOf(user), 0)
  const authors: UserId[] = []
  let passed = 0
  for (const user of ranked) {
    passed += weightOf(user)
    while (authors.length < posts && (authors.length + 0.5) * (sum / posts) < passed)
      authors.push(graph.users[user] as UserId)
  }
  // The authors of neighbouring ranks must not post at the same time.
  return repeat(authors, authors.length).map(
    (_, at) => authors[(at * 7_919) % authors.length] as UserId,
  )
}
