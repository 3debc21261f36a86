import { setTimeout as sleep } from 'node:timers/promises'
import { ObjectId } from 'mongodb'
import type { PostDoc } from '../../src/db/collections.ts'
import type { UserId } from '../../src/lib/ids.ts'
import { readPages } from '../../src/pages/pipeline.ts'
import type { Services } from '../../src/services.ts'
import { newKey } from '../idempotency.ts'
import {
  countEntries,
  createWorker,
  type FeedsDatabase,
  maintainOnly,
  serviceLog,
} from './feeds-database.ts'
import type { Graph } from './graph.ts'
import type { FeedSystem } from './mixed-workload.ts'
import { cacheStrategy, socialiteCache, updatesInFlight } from './socialite.ts'

const window = { limit: 50, backward: false } as const

/** Opens Feedline's services with a worker in this process, as `feedline serve` has it. */
export async function openFeedlineSystem(
  database: FeedsDatabase,
  strategy: 'CACHE' | 'INBOX',
): Promise<FeedSystem & AsyncDisposable> {
  const { services } = database
  await maintainOnly(database, [strategy])
  const worker = createWorker(services)
  worker.start()
  services.inline.start(services.tasks, serviceLog)
  return {
    readTimeline: (reader) =>
      services.feed.timeline(reader, { window, strategy, projection: 'text' }),
    readAuthorPosts: (author) => readPages(services.posts.byAuthor(true), [author], window),
    createPost: async (author, text) => {
      const post = await services.posts.create(author, { text }, newKey(author, 'createPost'))
      if (!post) throw new Error('a new mutation has a post')
      worker.nudge()
      return post.id
    },
    isVisible: async (reader, post) => {
      const page = await services.feed.timeline(reader, { window, strategy, projection: 'ref' })
      return page.items.some((item) => item.post.id === post)
    },
    waitUntilIdle: () => waitForEmptyOutbox(services),
    // A reader's own posts are in the cache too.
    entriesKept: strategy === 'CACHE' ? 40 : Number.POSITIVE_INFINITY,
    countEntries: (posts) => countEntries(services, strategy, posts),
    [Symbol.asyncDispose]: () => worker.stop(),
  }
}

const idleTimeoutMs = 60_000

/** Waits until the outbox has no work, in any process. @throws after 60 s. */
export async function waitForEmptyOutbox({ collections: { outbox } }: Services): Promise<void> {
  const deadline = performance.now() + idleTimeoutMs
  for (let job = await outbox.findOne(); job; job = await outbox.findOne()) {
    if (performance.now() > deadline) throw new Error(`a job did not end: ${JSON.stringify(job)}`)
    await sleep(5)
  }
}

/**
 * Opens Socialite's cache with posts and follows in Feedline's collections. It sends Socialite's
 * reads and writes and checks nothing.
 */
export function openSocialiteSystem({ db, services }: FeedsDatabase, graph: Graph): FeedSystem {
  const strategy = cacheStrategy(db)
  const { posts } = services.collections
  const caches = socialiteCache(db)
  const queue = createQueue(updatesInFlight)
  return {
    readTimeline: async (reader) => (await caches.findOne({ _id: reader }))?._c.reverse(),
    readAuthorPosts: (author) =>
      posts
        .find({ author }, { projection: { author: 1, text: 1 } })
        .sort({ _id: -1 })
        .limit(50)
        .toArray(),
    createPost: async (author, text) => {
      const post: PostDoc = { _id: new ObjectId(), author, text }
      await posts.insertOne(post)
      const entry = { _id: post._id, _a: author, _m: text }
      for (const follower of graph.followers.get(author) ?? []) {
        queue.add(() => strategy.send(entry, follower))
      }
      return post._id.toHexString()
    },
    isVisible: async (reader, post) => {
      const filter = { _id: reader, '_c._id': new ObjectId(post) }
      return (await caches.findOne(filter, { projection: { _id: 1 } })) !== null
    },
    waitUntilIdle: queue.waitUntilIdle,
    entriesKept: 50,
    countEntries: (all) => strategy.countEntries([...all.keys()].map((id) => new ObjectId(id))),
  }
}

/**
 * Deletes the posts after `since` with their entries, so that all strategies have the same posts
 * again.
 */
export async function deletePostsSince(
  { services }: FeedsDatabase,
  since: ObjectId,
): Promise<void> {
  const { posts, user_stats, inbox, timeline_cache } = services.collections
  const deletedCounts = await posts
    .aggregate<{ _id: UserId; count: number }>([
      { $match: { _id: { $gt: since } } },
      { $group: { _id: '$author', count: { $sum: 1 } } },
    ])
    .toArray()
  await posts.deleteMany({ _id: { $gt: since } })
  for (const { _id, count } of deletedCounts) {
    await user_stats.updateOne({ _id, posts: { $gte: count } }, { $inc: { posts: -count } })
  }
  await inbox.deleteMany({ '_id.post': { $gt: since } })
  await timeline_cache.deleteMany({})
}

/** Creates a queue that runs up to `concurrency` tasks at a time. */
function createQueue(concurrency: number) {
  const waiting: (() => Promise<unknown>)[] = []
  let running = 0
  let wake = () => {}
  const next = async () => {
    running++
    for (let work = waiting.shift(); work; work = waiting.shift()) await work()
    running--
    if (running === 0) wake()
  }
  return {
    add: (work: () => Promise<unknown>) => {
      waiting.push(work)
      if (running < concurrency) void next()
    },
    waitUntilIdle: () =>
      running === 0 ? Promise.resolve() : new Promise<void>((resolve) => (wake = resolve)),
  }
}
