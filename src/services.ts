import type { Config } from './config.ts'
import { type Collections, openCollections } from './db/collections.ts'
import type { Db, MongoClient } from './db/mongo.ts'
import { Transactions } from './db/transaction.ts'
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
  readonly feed: FeedService
  readonly queue: JobQueue
  readonly tasks: Readonly<Record<string, Task>>
}

/** The part of the configuration that services depend on. */
export type ServiceConfig = Pick<Config, 'following' | 'feed' | 'posts'>

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
  const transactions = new Transactions(client, collections.mutations, now)
  const stats = new UserStats(collections.user_stats)
  const users = new Users(
    collections.users,
    stats,
    new Outbox(collections.outbox, mint),
    transactions,
    now,
  )
  const edges = new Edges(collections, config.following, mint)
  const restrictions = new Restrictions(collections.restrictions, edges, stats, transactions, mint)
  const follows = new Follows(edges, restrictions, stats, transactions, mint)
  const checks = contentValidators(config.posts.blockedWords, validators)
  const posts = new Posts(collections.posts, stats, transactions, mint, checks)
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
    feed,
    queue: new JobQueue(collections.outbox),
    tasks: createTasks(users, graph, posts),
  }
}
