import type { Collections, EntryDoc } from '../../../src/db/collections.ts'
import type { Db, MongoClient } from '../../../src/db/mongo.ts'
import { fromObjectId } from '../../../src/db/object-id.ts'
import type { PostId, UserId } from '../../../src/lib/ids.ts'
import { pageSizeMax } from '../../../src/lib/page.ts'
import type { Services } from '../../../src/services.ts'
import type { FeedStrategyName } from '../../../src/timeline/strategies/list.ts'
import { gate } from '../../support/jobs.ts'
import type { TestDatabase } from '../../support/mongo.ts'

/** The collections that hold timelines. */
export const stores = ['timed_buckets', 'sized_buckets', 'timeline_cache', 'inbox'] as const
export type Store = (typeof stores)[number]

/** The posts that one collection stores for one reader, in no order. */
interface StoredTimeline {
  readonly reader: UserId
  readonly posts: readonly PostId[]
}

/** Every timeline of a collection, one in memory at a time. */
export async function* storedTimelines(
  collections: Collections,
  store: Store,
): AsyncGenerator<StoredTimeline> {
  let reader: UserId | undefined
  let posts: PostId[] = []
  for await (const part of partsOf(collections, store)) {
    if (reader !== undefined && part.reader !== reader) {
      yield { reader, posts }
      posts = []
    }
    reader = part.reader
    posts.push(...part.posts)
  }
  if (reader !== undefined) yield { reader, posts }
}

/** Describes posts that are stored more than once for one reader, at most `most`. */
export async function repeatsStored(collections: Collections, most = 10): Promise<string[]> {
  const problems: string[] = []
  for (const store of stores) {
    for await (const { reader, posts } of storedTimelines(collections, store)) {
      const seen = new Set<PostId>()
      for (const post of posts) {
        if (seen.has(post)) problems.push(`${store}: ${reader} holds ${post} twice`)
        seen.add(post)
      }
      if (problems.length >= most) return problems
    }
  }
  return problems
}

/**
 * Describes stored entries that should have been removed.
 * @param removed the readers whose timelines should not store a post, by post.
 */
export async function leftoversStored(
  collections: Collections,
  removed: ReadonlyMap<PostId, readonly UserId[]>,
): Promise<string[]> {
  const problems: string[] = []
  for (const store of stores) {
    for await (const { reader, posts } of storedTimelines(collections, store)) {
      const left = posts.filter((post) => removed.get(post)?.includes(reader))
      if (left.length > 0) problems.push(`${store}: ${reader} still holds ${left}`)
    }
  }
  return problems
}

/**
 * Describes repeated posts and missing posts of stored timelines, at most `most`. A missing cache
 * is no problem, and a cache needs only as many posts as it has room for.
 * @param expected the posts of every reader with a timeline.
 */
export async function storedProblems(
  collections: Collections,
  expected: ReadonlyMap<UserId, ReadonlySet<PostId>>,
  cacheMax: number,
  most = 10,
): Promise<string[]> {
  const problems = await repeatsStored(collections, most)
  for (const store of stores) {
    const without = new Set(expected.keys())
    for await (const { reader, posts } of storedTimelines(collections, store)) {
      without.delete(reader)
      const held = new Set(posts)
      const wanted = [...(expected.get(reader) ?? [])].sort().reverse()
      const room = store === 'timeline_cache' ? cacheMax : wanted.length
      const missing = wanted.slice(0, room).filter((post) => !held.has(post))
      if (missing.length > 0) problems.push(`${store}: ${reader} lacks ${missing}`)
      if (problems.length >= most) return problems
    }
    if (store === 'timeline_cache') continue
    for (const reader of without) {
      if (expected.get(reader)?.size) problems.push(`${store}: ${reader} holds nothing`)
    }
  }
  return problems
}

/** The strategies that served pages, and the differences of timelines from FANOUT_ON_READ. */
export interface Compared {
  readonly problems: string[]
  readonly served: Set<FeedStrategyName>
  /** Walks with a pending page. They may lack posts, and were not compared. */
  readonly pending: string[]
}

/**
 * Compares the whole timelines of these readers, walked in pages of 3, 6, 12, ..., with those of
 * FANOUT_ON_READ (law L1).
 */
export async function comparedTimelines(
  { feed }: Services,
  readers: readonly UserId[],
  strategies: readonly FeedStrategyName[],
): Promise<Compared> {
  const compared: Compared = { problems: [], served: new Set(), pending: [] }
  const compare = async (reader: UserId) => {
    const [right] = await walked(feed, reader, 'FANOUT_ON_READ', pageSizeMax)
    for (const strategy of strategies) {
      const [found, servedBy, pending] = await walked(feed, reader, strategy, 3)
      for (const name of servedBy) compared.served.add(name)
      if (pending) compared.pending.push(`${strategy}: ${reader}`)
      else if (found.join() !== right.join()) {
        compared.problems.push(`${strategy}: ${reader} reads [${found}], not [${right}]`)
      }
    }
  }
  await Promise.all(readers.map(compare))
  return compared
}

async function walked(
  feed: Services['feed'],
  reader: UserId,
  strategy: FeedStrategyName,
  first: number,
): Promise<[PostId[], FeedStrategyName[], pending: boolean]> {
  const found: PostId[] = []
  let pending = false
  const servedBy: FeedStrategyName[] = []
  for (let limit = first; ; limit = Math.min(2 * limit, pageSizeMax)) {
    const window = { limit, backward: false, after: found.at(-1) }
    const page = await feed.timeline(reader, { window, strategy, projection: 'ref', pending: true })
    servedBy.push(page.servedBy)
    pending ||= page.pending === true
    found.push(...page.items.map(({ post }) => post.id))
    if (page.items.length < limit) return [found, servedBy, pending]
  }
}

async function* partsOf(collections: Collections, store: Store): AsyncGenerator<StoredTimeline> {
  const many = { batchSize: 10_000 }
  const posts = (entries: readonly EntryDoc[]) => entries.map(({ post }) => idOf(post))
  if (store === 'inbox') {
    const keys = collections.inbox.find({}, { ...many, projection: { _id: 1 } }).sort({ _id: 1 })
    for await (const { _id } of keys) {
      yield { reader: _id.reader as UserId, posts: [idOf(_id.post)] }
    }
  } else if (store === 'timed_buckets') {
    for await (const doc of collections.timed_buckets.find({}, many).sort({ _id: 1 })) {
      yield { reader: doc._id.reader as UserId, posts: posts(doc.entries) }
    }
  } else if (store === 'sized_buckets') {
    for await (const doc of collections.sized_buckets.find({}, many).sort({ reader: 1 })) {
      yield { reader: doc.reader as UserId, posts: posts(doc.entries) }
    }
  } else {
    for await (const doc of collections.timeline_cache.find({}, many)) {
      yield { reader: doc._id as UserId, posts: posts(doc.entries) }
    }
  }
}

const idOf = (id: EntryDoc['post']) => fromObjectId<PostId>(id)

/** Wraps a driver call. The label names the call, like `posts.find` or `commit`. */
export type Around = <T>(label: string, call: () => Promise<T>) => Promise<T>

/** A database whose every driver call, including commits, goes through `around`. */
export function watchedDatabase(
  { client, db }: Pick<TestDatabase, 'client' | 'db'>,
  around: Around,
): Pick<TestDatabase, 'client' | 'db'> {
  const startSession: MongoClient['startSession'] = (options) => {
    const session = client.startSession(options)
    const commit = session.commitTransaction.bind(session)
    return Object.assign(session, { commitTransaction: () => around('commit', commit) })
  }
  const watchedClient = new Proxy(client, {
    get: (target, name) => (name === 'startSession' ? startSession : own(target, name)),
  })
  return { client: watchedClient, db: watched(db, 'db', around) }
}

function watched<T extends object>(real: T, name: string, around: Around): T {
  return new Proxy(real, {
    get: (target, property) => {
      const found = own(target, property)
      if (property === 'db') return watched(found as Db, 'db', around)
      if (typeof found !== 'function' || typeof property !== 'string') return found
      if (name === 'db' && property === 'collection') {
        return (of: string) => watched(found(of), of, around)
      }
      const label = `${name}.${property}`
      if (property !== 'find' && property !== 'aggregate') {
        return (...args: unknown[]) => around(label, async () => found(...args))
      }
      return (...args: unknown[]) => {
        const cursor = found(...args)
        const rows: () => AsyncIterator<unknown> = cursor[Symbol.asyncIterator].bind(cursor)
        // `toArray` also calls it.
        cursor[Symbol.asyncIterator] = async function* () {
          const all = rows()
          let row = await around(label, () => all.next())
          for (; !row.done; row = await all.next()) yield row.value
        }
        return cursor
      }
    },
  })
}

function own(target: object, property: string | symbol) {
  const value: unknown = Reflect.get(target, property, target)
  return typeof value === 'function' ? value.bind(target) : value
}

/**
 * Holds one call, or kills its process there. @param point the label of the call and its number,
 * like `posts.find 2`.
 */
export function holding(point: string | undefined) {
  const points: string[] = []
  const [reached, going] = [gate(), gate()]
  let dies = false
  const around: Around = async (label, call) => {
    const here = `${label} ${points.filter((one) => one.startsWith(`${label} `)).length + 1}`
    points.push(here)
    if (here === point) {
      reached.open()
      await going.opened
      if (dies) throw new Error('the process is dead')
    }
    return call()
  }
  const go = (dead = false) => {
    dies = dead
    going.open()
  }
  return { around, points, reached: reached.opened, go }
}
