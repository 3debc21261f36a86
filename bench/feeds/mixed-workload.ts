import { setTimeout as sleep } from 'node:timers/promises'
import { randomAt } from '../../packages/drive/random.ts'
import type { UserId } from '../../src/lib/ids.ts'
import { type OpenLoopResult, runOpenLoop } from '../load.ts'
import type { BenchOptions } from '../options.ts'
import { quantile } from '../statistics.ts'
import type { Graph } from './graph.ts'

/** A feed system under the mixed workload. */
export interface FeedSystem {
  /** Reads the first page of a reader's timeline. */
  readTimeline(reader: UserId): Promise<unknown>
  /** Reads the first page of one author's posts. */
  readAuthorPosts(author: UserId): Promise<unknown>
  /**
   * Creates a post. Resolves with its id when the author has the answer. Deliveries may still be
   * running.
   */
  createPost(author: UserId, text: string): Promise<string>
  /** Whether a post is in the first page of a reader. */
  isVisible(reader: UserId, post: string): Promise<boolean>
  /** Waits until no delivery is running. */
  waitUntilIdle(): Promise<void>
  /** The minimum number of newest entries that the system keeps for a reader. */
  readonly entriesKept: number
  /** Counts the entries of these posts in the timelines of the authors' followers. */
  countEntries(posts: ReadonlyMap<string, UserId>): Promise<number>
}

/** The result at one rate. */
export interface RateResult {
  readonly perSecond: number
  readonly load: OpenLoopResult
  /** Operations per second until the last delivery had ended. */
  readonly arrived: number
  /**
   * The time from the creation of a post until a follower's page shows it, of every fourth post.
   */
  readonly visibleP99Ms: number
  readonly isSustained: boolean
}

const p99MsMax = 100
const achievedMin = 0.95

/** The highest sustained rate, in operations per second, and its result. */
export interface MaxThroughput {
  readonly perSecond: number
  readonly at: RateResult | undefined
}

/**
 * Finds the highest rate that the system sustains: p99 of at most 100 ms, no failed call, and 95 %
 * of the rate done. The rate grows by half until it fails twice. Then a binary search narrows it
 * down to 8 %.
 */
export async function findMaxThroughput(
  name: string,
  system: FeedSystem,
  graph: Graph,
  { rate, ms, log }: BenchOptions,
): Promise<MaxThroughput> {
  let [sustainedRate, failedRate] = [0, Number.POSITIVE_INFINITY]
  let best: RateResult | undefined
  await runAtRate(system, graph, Math.ceil(rate / 2), ms)
  for (let next = rate; failedRate / Math.max(sustainedRate, 1) > 1.08 && next >= 10; ) {
    let result = await runAtRate(system, graph, Math.round(next), ms)
    if (!result.isSustained) result = await runAtRate(system, graph, Math.round(next), ms)
    log(`${name}: ${formatResult(result)}`)
    if (result.isSustained) [sustainedRate, best] = [next, result]
    else failedRate = next
    next = failedRate === Number.POSITIVE_INFINITY ? next * 1.5 : (sustainedRate + failedRate) / 2
  }
  return { perSecond: sustainedRate, at: best }
}

const formatResult = ({ perSecond, load, arrived, visibleP99Ms, isSustained }: RateResult) =>
  `${perSecond} per second: ${arrived.toFixed(0)} done, p50 ${load.p50Ms.toFixed(1)} ms, ` +
  `p99 ${load.p99Ms.toFixed(1)} ms, visible p99 ${visibleP99Ms.toFixed(0)} ms${isSustained ? '' : ', not sustained'}`

/**
 * Runs the mixed workload at a fixed rate: 60 % timelines, 30 % authors' posts, 10 % new posts.
 * All users act equally often.
 */
async function runAtRate(
  system: FeedSystem,
  graph: Graph,
  perSecond: number,
  ms: number,
): Promise<RateResult> {
  const { users } = graph
  const posts = new Map<string, UserId>()
  const visible: Promise<number>[] = []
  const pickUser = (at: number) =>
    users[Math.floor(randomAt(perSecond, at, 1) * users.length)] as UserId
  const createPost = async (at: number) => {
    const [author, begin] = [pickUser(at), performance.now()]
    const post = await system.createPost(author, createText(at))
    posts.set(post, author)
    const follower = graph.followers.get(author)?.at(-1)
    if (posts.size % 4 === 0 && follower)
      visible.push(measureVisibleMs(system, follower, post, begin))
  }
  const begin = performance.now()
  const load = await runOpenLoop(perSecond, ms, (at) => {
    const kind = randomAt(perSecond, at, 0)
    if (kind < 0.6) return system.readTimeline(pickUser(at))
    return kind < 0.9 ? system.readAuthorPosts(pickUser(at)) : createPost(at)
  })
  await system.waitUntilIdle()
  // The last deliveries may take as long as an answer.
  const seconds = Math.max(ms, performance.now() - begin - p99MsMax) / 1000
  const visibleMs = await Promise.all(visible)
  await verifyEntries(system, graph, posts)
  const arrived = Math.round((perSecond * ms) / 1000) / seconds
  const p99 = load.p99Ms <= p99MsMax && load.failed === 0
  const isSustained = p99 && arrived >= achievedMin * perSecond
  return { perSecond, load, arrived, visibleP99Ms: quantile(visibleMs, 0.99), isSustained }
}

const createText = (at: number) => `Post ${at} of the mix, as long as messages usually are here.`

const visibleTimeoutMs = 20_000

async function measureVisibleMs(system: FeedSystem, reader: UserId, post: string, begin: number) {
  while (!(await system.isVisible(reader, post))) {
    if (performance.now() - begin > visibleTimeoutMs) return Number.NaN
    await sleep(5)
  }
  return performance.now() - begin
}

/** @throws unless every follower has each post, or the newest posts that the system keeps. */
async function verifyEntries(system: FeedSystem, graph: Graph, posts: ReadonlyMap<string, UserId>) {
  const entriesByReader = new Map<UserId, number>()
  for (const author of posts.values()) {
    for (const reader of graph.followers.get(author) ?? []) {
      entriesByReader.set(reader, (entriesByReader.get(reader) ?? 0) + 1)
    }
  }
  const least = [...entriesByReader.values()].reduce(
    (sum, count) => sum + Math.min(count, system.entriesKept),
    0,
  )
  const entries = await system.countEntries(posts)
  if (entries < least) throw new Error(`${entries} of at least ${least} entries were stored`)
}
