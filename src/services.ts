import type { Config } from './config.ts'
import { type Collections, openCollections } from './db/collections.ts'
import type { Db, MongoClient } from './db/mongo.ts'
import { Once } from './db/once.ts'
import { Transactions } from './db/transaction.ts'
import { EngagedLog } from './engagement/engaged.ts'
import { Engagements } from './engagement/engagement.ts'
import { listLimits } from './engagement/kinds.ts'
import { LikedPosts } from './engagement/liked.ts'
import { OutlierLists } from './engagement/outlier.ts'
import { PostPurge } from './engagement/purge.ts'
import { OutlierWalk } from './engagement/walk.ts'
import { FanoutOnRead } from './feed/fanout-on-read.ts'
import { FeedService } from './feed/feed.ts'
import { createTasks } from './feed/tasks.ts'
import { Edges } from './follows/edges.ts'
import { Follows } from './follows/follows.ts'
import { GraphPurge } from './follows/purge.ts'
import { Restrictions } from './follows/restrictions.ts'
import { Outbox } from './jobs/outbox.ts'
import { JobQueue } from './jobs/queue.ts'
import type { Task } from './jobs/worker.ts'
import { IdMint } from './lib/ids.ts'
import { type ContentValidator, contentValidators } from './posts/content.ts'
import { Posts } from './posts/posts.ts'
import { Remains } from './posts/remains.ts'
import { UserStats } from './users/stats.ts'
import { Users } from './users/users.ts'

/** The services over one database, wired once. */
export interface Services {
  readonly collections: Collections
  readonly transactions: Transactions
  readonly edges: Edges
  readonly users: Users
  readonly stats: UserStats
  readonly follows: Follows
  readonly restrictions: Restrictions
  readonly posts: Posts
  readonly engagements: Engagements
  readonly walk: OutlierWalk
  readonly liked: LikedPosts
  readonly feed: FeedService
  readonly queue: JobQueue
  readonly tasks: Readonly<Record<string, Task>>
}

/** The part of the configuration that services depend on. */
export type ServiceConfig = Pick<Config, 'following' | 'feed' | 'posts' | 'engagement'>

/**
 * Builds every service. The only place where they are wired.
 * @param validators content validators beyond the built-in ones.
 * @param now milliseconds since 1970.
 */
export function createServices(
  client: MongoClient,
  db: Db,
  config: ServiceConfig,
  validators: readonly ContentValidator[] = [],
  now: () => number = Date.now,
): Services {
  const collections = openCollections(db)
  const mint = new IdMint(now)
  const once = new Once(collections.mutations, now)
  const transactions = new Transactions(client, once)
  const stats = new UserStats(collections.user_stats)
  const outbox = new Outbox(collections.outbox, mint)
  const users = new Users(collections.users, stats, outbox, transactions, now)
  const edges = new Edges(collections, config.following, mint)
  const restrictions = new Restrictions(collections.restrictions, edges, stats, transactions, mint)
  const follows = new Follows(edges, restrictions, stats, transactions, mint)
  const checks = contentValidators(config.posts.blockedWords, validators)
  const remains = new Remains(collections.overflow, outbox)
  const posts = new Posts(collections.posts, stats, remains, transactions, mint, checks)
  const limits = listLimits(config.engagement)
  const lists = new OutlierLists(collections, transactions, once, limits, now)
  const walk = new OutlierWalk(collections)
  const engaged = new EngagedLog(collections.engaged)
  const engagements = new Engagements(lists, walk, engaged, stats, restrictions, checks, mint, now)
  const liked = new LikedPosts(engaged, walk, stats, restrictions)
  const purge = new PostPurge(collections.overflow, engaged)
  const strategies = { FANOUT_ON_READ: new FanoutOnRead(follows, posts) }
  const feed = new FeedService(
    strategies,
    config.feed.strategy,
    follows,
    restrictions,
    stats,
    posts,
  )
  const graph = new GraphPurge(collections, edges, stats, transactions)
  return {
    collections,
    transactions,
    edges,
    users,
    stats,
    follows,
    restrictions,
    posts,
    engagements,
    walk,
    liked,
    feed,
    queue: new JobQueue(collections.outbox),
    tasks: createTasks(users, graph, posts, engagements, purge),
  }
}
