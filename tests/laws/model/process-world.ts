import { toObjectId } from '../../../src/db/object-id.ts'
import { type EdgeId, type PostId, timeIdAt, type UserId } from '../../../src/lib/ids.ts'
import type { FeedStrategyName } from '../../../src/timeline/strategies/list.ts'
import { storeEdges } from '../../support/edges.ts'
import { handle, openAccounts, type ServicesHarness } from '../../support/services.ts'
import type { PollOrders } from '../processes/poll-child.ts'
import type { Writers } from './feed-traffic.ts'

/** How much a run of several processes does. */
export interface WorldSize {
  readonly followers: number
  /** Bursts of traffic, each with a pause after it. */
  readonly rounds: number
  readonly burstMs: number
  /** How often the star posts in a burst, in milliseconds. */
  readonly starMs: number
}

/** The users of a run: writers, and readers whose relations never change. */
export interface World extends Writers {
  readonly quiet: readonly UserId[]
}

/** The strategies that the database of a run maintains. */
export const maintainedStrategies = [
  ...(['INBOX', 'CACHE', 'TIME_BUCKETS', 'SIZED_BUCKETS', 'FANOUT_ON_READ'] as const),
] satisfies readonly FeedStrategyName[]

/** Opens all accounts, and inserts their edges without jobs, like an import. */
export async function openWorld(
  { services, clock }: Pick<ServicesHarness, 'services' | 'clock'>,
  followers: number,
) {
  const names = (name: string, count: number) =>
    Array.from({ length: count }, (_, n) => handle(`${name}${n}`))
  const world: World = {
    star: handle('star'),
    friends: names('friend', 4),
    calm: names('calm', 2),
    readers: names('reader', 10),
    quiet: names('quiet', 2),
  }
  const { star, friends, calm, readers, quiet } = world
  const fans = names('fan', followers)
  await openAccounts(services, [star, ...friends, ...calm, ...readers, ...quiet, ...fans])
  const audiences: readonly (readonly [UserId, readonly UserId[]])[] = [
    [star, [...fans, ...readers, ...quiet]],
    ...friends.map((friend) => [friend, [...readers, ...fans.slice(0, 50)]] as const),
    ...calm.map((one) => [one, [...readers, ...quiet]] as const),
  ]
  const pairs = audiences.flatMap(([followee, all]) =>
    all.map((follower) => ({ follower, followee })),
  )
  const edges = pairs.map((pair, n) => ({
    id: timeIdAt<EdgeId>(clock.now(), n.toString(16).padStart(12, '0')),
    ...pair,
    source: 'IMPORT' as const,
  }))
  await storeEdges(services, edges)
  const counters = (user: UserId) => ({
    followers: audiences.find(([followee]) => followee === user)?.[1].length ?? 0,
    following: 0,
  })
  const { user_stats } = services.collections
  await user_stats.bulkWrite(
    [...new Set(pairs.flatMap(({ follower, followee }) => [follower, followee]))].map((_id) => ({
      updateOne: { filter: { _id }, update: { $set: counters(_id) } },
    })),
  )
  // A first page ends above the oldest stored entry. Below it, pages show posts before their
  // delivery.
  const oldPosts = Array.from({ length: 25 }, (_, n) => ({
    _id: toObjectId(timeIdAt<PostId>(clock.now() - 3_600_000 + n, '0'.repeat(12))),
    ...{ author: 'calm0', text: 'old' },
  }))
  await services.collections.posts.insertMany(oldPosts)
  return world
}

/** Options that differ between the servers of a run, and within what the laws allow. */
export function ordersOf({ uri, name }: ServicesHarness['database']): {
  readonly servers: readonly PollOrders[]
  readonly workers: readonly PollOrders[]
} {
  const database = { MONGODB_URI: uri, MONGODB_DATABASE: name }
  const common = { NODE_ENV: 'test', ...database, PORT: '0' }
  const all = { ...common, FEED_MAINTAINED: maintainedStrategies.join() }
  const servers = [
    {
      env: { ...all, FEED_STRATEGY: 'CACHE', TIMELINE_ENTRIES: 'text', CACHE_SIZE: '60' },
      ...{ skewMs: 450, hostSkewMs: -3_600_000 },
    },
    {
      env: { ...all, TIMELINE_ENTRIES: 'id', PAGE_CACHE_MB: '0.2', FANOUT_INLINE_MAX: '0' },
      ...{ skewMs: -450, hostSkewMs: 0 },
    },
    {
      env: { ...all, FEED_STRATEGY: 'TIME_BUCKETS', CACHE_SIZE: '9', FANOUT_INLINE_MAX: '20' },
      ...{ skewMs: 0, hostSkewMs: 900 },
    },
  ]
  const workers = [
    { concurrency: 4, leaseMs: 700 },
    { concurrency: 2, leaseMs: 1_500 },
  ].map((worker, n) => ({ env: common, skewMs: n * 300, hostSkewMs: -n * 800, worker }))
  return { servers, workers }
}
