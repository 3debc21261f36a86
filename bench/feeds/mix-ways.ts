import { setTimeout as sleep } from 'node:timers/promises'
import { ObjectId } from 'mongodb'
import type { PostDoc } from '../../src/db/collections.ts'
import type { UserId } from '../../src/lib/ids.ts'
import type { Services } from '../../src/services.ts'
import type { Graph } from './graph.ts'
import type { MixWay } from './mix.ts'
import { entriesOf, type FeedsDatabase, log, maintain, workerOf } from './ours.ts'
import { cacheWay, inFlight, socialiteCache } from './socialite.ts'

const window = { limit: 50, backward: false } as const

/** Ours through the services, with a worker in the same process as `feedline serve` has one. */
export async function ourMix(
  database: FeedsDatabase,
  strategy: 'CACHE' | 'INBOX',
): Promise<MixWay & AsyncDisposable> {
  const { services } = database
  await maintain(database, [strategy])
  const worker = workerOf(services)
  worker.start()
  services.inline.start(services.tasks, log)
  return {
    home: (reader) => services.feed.timeline(reader, { window, strategy, projection: 'text' }),
    wall: (author) => services.posts.byAuthors([author], window, true),
    compose: async (author, text) => {
      const { id } = await services.posts.create(author, { text })
      worker.nudge()
      return id
    },
    sees: async (reader, post) => {
      const page = await services.feed.timeline(reader, { window, strategy, projection: 'ref' })
      return page.items.some(({ id }) => id === post)
    },
    idle: () => emptied(services),
    // Their own posts take places of a cache too.
    keeps: strategy === 'CACHE' ? 40 : Number.POSITIVE_INFINITY,
    entries: (posts) => entriesOf(services, strategy, posts),
    [Symbol.asyncDispose]: () => worker.stop(),
  }
}

const idleMsMax = 60_000

/** Resolves when no job is left, whoever runs it. */
async function emptied({ collections: { outbox } }: Services): Promise<void> {
  const giveUpAt = performance.now() + idleMsMax
  for (let job = await outbox.findOne({}); job; job = await outbox.findOne({})) {
    if (performance.now() > giveUpAt) throw new Error(`a job is left: ${JSON.stringify(job)}`)
    await sleep(5)
  }
}

/** Socialite's cache, with posts and follows in our collections: what it writes and reads, nothing checked. */
export function socialiteMix({ db, services }: FeedsDatabase, graph: Graph): MixWay {
  const way = cacheWay(db)
  const { posts } = services.collections
  const caches = socialiteCache(db)
  const queue = createQueue(inFlight)
  return {
    home: async (reader) => (await caches.findOne({ _id: reader }))?._c.reverse(),
    wall: (author) =>
      posts
        .find({ author }, { projection: { author: 1, text: 1 } })
        .sort({ _id: -1 })
        .limit(50)
        .toArray(),
    compose: async (author, text) => {
      const post: PostDoc = { _id: new ObjectId(), author, text }
      await posts.insertOne(post)
      const entry = { _id: post._id, _a: author, _m: text }
      for (const follower of graph.followers.get(author) ?? []) {
        queue.add(() => way.send(entry, follower))
      }
      return post._id.toHexString()
    },
    sees: async (reader, post) => {
      const filter = { _id: reader, '_c._id': new ObjectId(post) }
      return (await caches.findOne(filter, { projection: { _id: 1 } })) !== null
    },
    idle: queue.idle,
    keeps: 50,
    entries: (all) => way.entries([...all.keys()].map((id) => new ObjectId(id))),
  }
}

/** Removes what was posted since, so that all strategies are again of one mind. */
export async function forgetSince({ services }: FeedsDatabase, since: ObjectId): Promise<void> {
  const { posts, user_stats, inbox, timeline_cache } = services.collections
  const gone = await posts
    .aggregate<{ _id: UserId; count: number }>([
      { $match: { _id: { $gt: since } } },
      { $group: { _id: '$author', count: { $sum: 1 } } },
    ])
    .toArray()
  await posts.deleteMany({ _id: { $gt: since } })
  for (const { _id, count } of gone) {
    await user_stats.updateOne({ _id, posts: { $gte: count } }, { $inc: { posts: -count } })
  }
  await inbox.deleteMany({ '_id.post': { $gt: since } })
  await timeline_cache.deleteMany({})
}

/** Runs so many at a time and holds the others. */
function createQueue(atATime: number) {
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
      if (running < atATime) void next()
    },
    idle: () =>
      running === 0 ? Promise.resolve() : new Promise<void>((resolve) => (wake = resolve)),
  }
}
