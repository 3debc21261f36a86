import { type Collection, type Db, ObjectId } from 'mongodb'
import type { PostDoc } from '../../src/db/collections.ts'
import type { UserId } from '../../src/lib/ids.ts'
import { fillerPosts, insertInBatches } from './bulk-data.ts'

/** A post as Socialite embeds it. */
export interface SocialitePost {
  readonly _id: ObjectId
  readonly _a: string
  readonly _m: string
}

/** Converts a post to the shape in which Socialite embeds it. */
export const toSocialitePost = ({ _id, author, text }: PostDoc): SocialitePost => ({
  ...{ _id, _a: author, _m: text },
})

export type FollowersOf = (author: string) => Promise<readonly UserId[]>

/** A strategy as Socialite implements it. */
export interface SocialiteStrategy {
  /** Delivers each post to all followers of its author. */
  deliverPosts(posts: readonly SocialitePost[], followersOf: FollowersOf): Promise<void>
  /** Deletes all entries, except in caches. */
  reset(): Promise<unknown>
  /** Counts the entries of these posts. Counts each pair of reader and post once. */
  countEntries(posts: readonly ObjectId[]): Promise<number>
}

interface Cache {
  _id: string
  _c: SocialitePost[]
}
interface TimeBucket {
  _id: { _t: number; _u: string }
  _c: SocialitePost[]
}
interface SizedBucket {
  _id: ObjectId
  _u: string
  _s: number
  _c: SocialitePost[]
}

/**
 * The number of concurrent updates. Socialite's pool has four threads, each with one update at a
 * time. More than 16 did not raise the rate.
 */
export const updatesInFlight = 16

/** The names of Socialite's collections. */
const names = {
  cache: 'socialite_timeline_cache',
  timed: 'socialite_timed_buckets',
  sized: 'socialite_sized_buckets',
} as const

const bucketSize = 50
const periodSeconds = 86_400

/** The collection of Socialite's caches. */
export const socialiteCache = (db: Db): Collection<Cache> => db.collection<Cache>(names.cache)

/** Replaces all caches: each user gets a full cache of entries without posts. */
export async function fillSocialiteCaches(db: Db, users: readonly UserId[]): Promise<void> {
  await socialiteCache(db).drop()
  const _c = fillerPosts.slice(-bucketSize).map(toSocialitePost)
  await insertInBatches(socialiteCache(db), users, (_id) => ({ _id, _c }))
}

/**
 * Opens Socialite's strategies with the driver's defaults. Each write waits for a majority, as
 * Feedline's writes do.
 */
export function openSocialiteStrategies(db: Db): Readonly<Record<string, SocialiteStrategy>> {
  return {
    TIME_BUCKETS: timeBucketStrategy(db),
    SIZED_BUCKETS: sizedBucketStrategy(db),
    CACHE: cacheStrategy(db),
    'CACHE, one update a post': updateManyCacheStrategy(db),
  }
}

/** Socialite's update: a follower without a cache gets no entry. */
export function cacheStrategy(db: Db): SocialiteStrategy & { readonly send: Send } {
  const caches = socialiteCache(db)
  const send: Send = (post, follower) =>
    caches.updateOne({ _id: follower }, { $push: { _c: { $each: [post], $slice: -bucketSize } } })
  return {
    send,
    deliverPosts: deliverOneByOne(send),
    reset: async () => {},
    countEntries: (posts) => countEntriesIn(caches, posts, '$_id'),
  }
}

/**
 * The `updateMany` of Socialite's older code. The move to a new driver made it an update of one
 * follower.
 */
function updateManyCacheStrategy(db: Db): SocialiteStrategy {
  const caches = socialiteCache(db)
  return {
    deliverPosts: async (posts, followersOf) => {
      for (const post of posts) {
        const followers = await followersOf(post._a)
        const push = { $push: { _c: { $each: [post], $slice: -bucketSize } } }
        await caches.updateMany({ _id: { $in: [...followers] } }, push)
      }
    },
    reset: async () => {},
    countEntries: (posts) => countEntriesIn(caches, posts, '$_id'),
  }
}

/**
 * Socialite's code has `%` instead of `/`, which makes one bucket per second. Here the period is
 * one day.
 */
function timeBucketStrategy(db: Db): SocialiteStrategy {
  const buckets = db.collection<TimeBucket>(names.timed)
  const prepare = () => buckets.createIndex({ '_id._t': -1, '_id._u': 1 })
  return {
    deliverPosts: deliverOneByOne((post, follower) => {
      const period = Math.floor(post._id.getTimestamp().getTime() / 1000 / periodSeconds)
      return buckets.updateOne(
        { _id: { _t: period, _u: follower } },
        { $push: { _c: post } },
        { upsert: true },
      )
    }),
    reset: () => buckets.drop().then(prepare),
    countEntries: (posts) => countEntriesIn(buckets, posts, '$_id._u'),
  }
}

/** Pushes into the newest bucket and inserts the next bucket when it is full, as Socialite does. */
function sizedBucketStrategy(db: Db): SocialiteStrategy {
  const buckets = db.collection<SizedBucket>(names.sized)
  const prepare = () => buckets.createIndex({ _u: 1, _id: 1 })
  return {
    deliverPosts: deliverOneByOne(async (post, follower) => {
      const bucket = await buckets.findOneAndUpdate(
        { _u: follower },
        { $push: { _c: post }, $inc: { _s: 1 } },
        { sort: { _id: -1 }, upsert: true, returnDocument: 'after' },
      )
      if (bucket && bucket._s >= bucketSize) {
        await buckets.insertOne({ _id: new ObjectId(), _u: follower, _s: 0, _c: [] })
      }
    }),
    reset: () => buckets.drop().then(prepare),
    countEntries: (posts) => countEntriesIn(buckets, posts, '$_u'),
  }
}

type Send = (post: SocialitePost, follower: UserId) => Promise<unknown>

/** Sends one command per follower, with {@link updatesInFlight} concurrent commands. */
function deliverOneByOne(send: Send) {
  return async (posts: readonly SocialitePost[], followersOf: FollowersOf): Promise<void> => {
    const source = deliveriesOf(posts, followersOf)
    const sender = async () => {
      for (;;) {
        const { value, done } = await source.next()
        if (done) return
        await send(value.post, value.follower)
      }
    }
    await Promise.all(Array.from({ length: updatesInFlight }, sender))
  }
}

async function* deliveriesOf(posts: readonly SocialitePost[], followersOf: FollowersOf) {
  for (const post of posts) {
    for (const follower of await followersOf(post._a)) yield { post, follower }
  }
}

async function countEntriesIn<T extends { _c: SocialitePost[] }>(
  collection: Collection<T>,
  posts: readonly ObjectId[],
  reader: string,
): Promise<number> {
  const [result] = await collection
    .aggregate<{ entries: number }>([
      { $unwind: '$_c' },
      { $match: { '_c._id': { $in: posts } } },
      { $group: { _id: { reader, post: '$_c._id' } } },
      { $count: 'entries' },
    ])
    .toArray()
  return result?.entries ?? 0
}
