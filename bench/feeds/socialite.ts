import { type Collection, type Db, ObjectId } from 'mongodb'
import type { PostDoc } from '../../src/db/collections.ts'
import type { UserId } from '../../src/lib/ids.ts'
import { fillerPosts, insert } from './store.ts'

/** A post as Socialite embeds it. */
export interface SocialitePost {
  readonly _id: ObjectId
  readonly _a: string
  readonly _m: string
}

/** A post of ours as Socialite embeds it. */
export const toSocialite = ({ _id, author, text }: PostDoc): SocialitePost => ({
  ...{ _id, _a: author, _m: text },
})

export type FollowersOf = (author: string) => Promise<readonly UserId[]>

/** A strategy as Socialite writes it. */
export interface SocialiteWay {
  /** Hands each post to all followers of its author. */
  deliver(posts: readonly SocialitePost[], followersOf: FollowersOf): Promise<void>
  /** Makes as if nothing had been delivered, caches aside. */
  clear(): Promise<unknown>
  /** How many entries of these posts there are, each counted once a reader. */
  entries(posts: readonly ObjectId[]): Promise<number>
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
 * How many updates are under way at a time. Socialite's pool has four threads, each with one post and one update; with 16
 * it gets what more than that does not better.
 */
export const inFlight = 16

/** Its names for its collections; ours have no prefix. */
const names = {
  cache: 'socialite_timeline_cache',
  timed: 'socialite_timed_buckets',
  sized: 'socialite_sized_buckets',
} as const

const size = 50
const periodS = 86_400

/** Where Socialite's caches are. */
export const socialiteCache = (db: Db): Collection<Cache> => db.collection<Cache>(names.cache)

/** Gives everybody a cache anew, full of posts that there never were. */
export async function fillSocialite(db: Db, people: readonly UserId[]): Promise<void> {
  await socialiteCache(db).drop()
  const _c = fillerPosts.slice(-size).map(toSocialite)
  await insert(socialiteCache(db), people, (_id) => ({ _id, _c }))
}

/** Its ways, each with the driver's defaults but a majority for each write, as ours have. */
export function openSocialite(db: Db): Readonly<Record<string, SocialiteWay>> {
  return {
    TIME_BUCKETS: timeBuckets(db),
    SIZED_BUCKETS: sizedBuckets(db),
    CACHE: cacheWay(db),
    'CACHE, one update a post': cacheAtOnce(db),
  }
}

/** Seed 1's statement: a follower without a cache gets nothing. */
export function cacheWay(db: Db): SocialiteWay & { readonly send: Send } {
  const caches = socialiteCache(db)
  const send: Send = (post, follower) =>
    caches.updateOne({ _id: follower }, { $push: { _c: { $each: [post], $slice: -size } } })
  return {
    send,
    deliver: oneByOne(send),
    clear: async () => {},
    entries: (posts) => entriesIn(caches, posts, '$_id'),
  }
}

/** What its code sent before it was moved to a new driver, where it became an update of one follower alone. */
function cacheAtOnce(db: Db): SocialiteWay {
  const caches = socialiteCache(db)
  return {
    deliver: async (posts, followersOf) => {
      for (const post of posts) {
        const followers = await followersOf(post._a)
        const push = { $push: { _c: { $each: [post], $slice: -size } } }
        await caches.updateMany({ _id: { $in: [...followers] } }, push)
      }
    },
    clear: async () => {},
    entries: (posts) => entriesIn(caches, posts, '$_id'),
  }
}

/** With the period that was meant: the code takes `%` for `/`, which makes a bucket of every second. */
function timeBuckets(db: Db): SocialiteWay {
  const buckets = db.collection<TimeBucket>(names.timed)
  const prepare = () => buckets.createIndex({ '_id._t': -1, '_id._u': 1 })
  return {
    deliver: oneByOne((post, follower) => {
      const period = Math.floor(post._id.getTimestamp().getTime() / 1000 / periodS)
      return buckets.updateOne(
        { _id: { _t: period, _u: follower } },
        { $push: { _c: post } },
        { upsert: true },
      )
    }),
    clear: () => buckets.drop().then(prepare),
    entries: (posts) => entriesIn(buckets, posts, '$_id._u'),
  }
}

/** As the code has it: push into the newest bucket, and open the next where that one is full now. */
function sizedBuckets(db: Db): SocialiteWay {
  const buckets = db.collection<SizedBucket>(names.sized)
  const prepare = () => buckets.createIndex({ _u: 1, _id: 1 })
  return {
    deliver: oneByOne(async (post, follower) => {
      const bucket = await buckets.findOneAndUpdate(
        { _u: follower },
        { $push: { _c: post }, $inc: { _s: 1 } },
        { sort: { _id: -1 }, upsert: true, returnDocument: 'after' },
      )
      if (bucket && bucket._s >= size) {
        await buckets.insertOne({ _id: new ObjectId(), _u: follower, _s: 0, _c: [] })
      }
    }),
    clear: () => buckets.drop().then(prepare),
    entries: (posts) => entriesIn(buckets, posts, '$_u'),
  }
}

type Send = (post: SocialitePost, follower: UserId) => Promise<unknown>

/** One command a follower, {@link inFlight} of them under way. */
function oneByOne(send: Send) {
  return async (posts: readonly SocialitePost[], followersOf: FollowersOf): Promise<void> => {
    const source = deliveries(posts, followersOf)
    const sender = async () => {
      for (;;) {
        const { value, done } = await source.next()
        if (done) return
        await send(value.post, value.follower)
      }
    }
    await Promise.all(Array.from({ length: inFlight }, sender))
  }
}

async function* deliveries(posts: readonly SocialitePost[], followersOf: FollowersOf) {
  for (const post of posts) {
    for (const follower of await followersOf(post._a)) yield { post, follower }
  }
}

async function entriesIn<T extends { _c: SocialitePost[] }>(
  collection: Collection<T>,
  posts: readonly ObjectId[],
  reader: string,
): Promise<number> {
  const [found] = await collection
    .aggregate<{ entries: number }>([
      { $unwind: '$_c' },
      { $match: { '_c._id': { $in: posts } } },
      { $group: { _id: { reader, post: '$_c._id' } } },
      { $count: 'entries' },
    ])
    .toArray()
  return found?.entries ?? 0
}
