import { type Collections, openCollections } from './db/collections.ts'
import { IdempotencyStore } from './db/idempotency.ts'
import type { Db, MongoClient } from './db/mongo.ts'
import { Transactions } from './db/transaction.ts'
import { Versions } from './db/versions.ts'
import { Admission } from './engagement/admission.ts'
import { Engagements } from './engagement/engagement.ts'
import { LikedPosts } from './engagement/liked.ts'
import { listLimits } from './engagement/list-limits.ts'
import { OrphanedEngagement } from './engagement/orphaned.ts'
import { OutlierLists } from './engagement/outlier-lists.ts'
import { EngagementReader } from './engagement/reader.ts'
import { EngagementSummaries } from './engagement/summaries.ts'
import { UnsureEntries } from './engagement/unsure.ts'
import { UserEngagementIndex } from './engagement/user-index.ts'
import type { AppConfig } from './environment.ts'
import { createFeeds, type Feeds } from './feed/feeds.ts'
import { Edges } from './follows/edges.ts'
import { FollowBatcher } from './follows/follow-batcher.ts'
import { Follows } from './follows/follows.ts'
import { Mutuals } from './follows/mutuals.ts'
import { GraphPurge } from './follows/purge.ts'
import { Restrictions } from './follows/restrictions.ts'
import { Suggestions } from './follows/suggestions.ts'
import { InlineRunner } from './jobs/inline.ts'
import { Outbox } from './jobs/outbox.ts'
import { JobQueue } from './jobs/queue.ts'
import type { Tasks } from './jobs/runner.ts'
import { IdMint } from './lib/ids.ts'
import { type ContentValidator, contentValidators } from './posts/content.ts'
import { Posts } from './posts/posts.ts'
import { Publishing } from './posts/publishing.ts'
import { Tombstones } from './posts/tombstones.ts'
import { createTasks } from './subscribers.ts'
import { ReservedNames } from './users/names.ts'
import { UserStats } from './users/stats.ts'
import { Users } from './users/users.ts'

/** The services over one database, wired once. */
export interface Services extends Feeds {
  readonly collections: Collections
  readonly transactions: Transactions
  readonly edges: Edges
  readonly users: Users
  readonly stats: UserStats
  readonly follows: Follows
  readonly restrictions: Restrictions
  readonly mutuals: Mutuals
  readonly suggestions: Suggestions
  readonly posts: Posts
  readonly engagements: Engagements
  readonly engagementReader: EngagementReader
  readonly summaries: EngagementSummaries
  readonly liked: LikedPosts
  readonly outbox: Outbox
  readonly queue: JobQueue
  readonly inline: InlineRunner
  /** The task of every job kind. */
  readonly tasks: Tasks
  readonly versions: Versions
  readonly mint: IdMint
  /** The database's clock, in milliseconds since 1970. */
  readonly now: () => number
}

/** The part of the configuration that services depend on. */
export type ServiceConfig = Pick<
  AppConfig,
  'following' | 'followeesMax' | 'feed' | 'users' | 'posts' | 'engagement'
>

/** What services take from the process, beyond the configuration. */
export interface ServiceOptions {
  /** Content validators beyond the built-in ones. Default: none. */
  readonly validators?: readonly ContentValidator[]
  /** The database's clock, in milliseconds since 1970. Default: this machine's. */
  readonly now?: () => number
}

/** Builds every service. The only place where they are wired. */
export function createServices(
  client: MongoClient,
  db: Db,
  config: ServiceConfig,
  { validators: more = [], now = Date.now }: ServiceOptions = {},
): Services {
  const collections = openCollections(db)
  const mint = new IdMint(now)
  const idempotency = new IdempotencyStore(collections, now)
  const transactions = new Transactions(client, idempotency)
  const queue = new JobQueue(collections.outbox, { now })
  const inline = new InlineRunner(queue)
  const outbox = new Outbox(collections.outbox, mint, inline)
  const stats = new UserStats(collections)
  const reserved = new ReservedNames(config.users.reservedHandles)
  const users = new Users({ collections, stats, outbox, transactions, reserved, now })
  const edges = new Edges(collections, config.following, mint)
  const graphParts = { collections, edges, stats, outbox, transactions, mint, now }
  const restrictions = new Restrictions(graphParts)
  const parts = { ...graphParts, restrictions }
  const follows = new Follows({
    ...parts,
    batcher: new FollowBatcher({ ...parts, followeesMax: config.followeesMax }),
  })
  const mutuals = new Mutuals(edges, follows)
  const suggestions = new Suggestions({ edges, follows, restrictions, stats })
  const validators = contentValidators(config.posts.blockedWords, more)
  const tombstones = new Tombstones(collections.overflow, outbox)
  const publishing = new Publishing(parts)
  const posts = new Posts({ ...parts, tombstones, publishing, validators })
  const limits = listLimits(config.engagement)
  const userIndex = new UserEngagementIndex(collections.engagements_by_user)
  const admission = new Admission(userIndex, stats, restrictions)
  const engagementReader = new EngagementReader(collections)
  const unsure = new UnsureEntries(userIndex, engagementReader)
  const lists = new OutlierLists({
    ...{ collections, transactions, idempotency, outbox, limits, admission, unsure, now },
  })
  const summaries = new EngagementSummaries(collections)
  const engagements = new Engagements({
    lists,
    reader: engagementReader,
    userIndex,
    unsure,
    validators,
    mint,
    now,
  })
  const liked = new LikedPosts(userIndex, engagementReader, stats, restrictions)
  const orphaned = new OrphanedEngagement(collections.overflow, userIndex)
  const graph = new GraphPurge(collections, edges, stats, transactions)
  const versions = new Versions(collections, transactions)
  const core = { posts, follows, restrictions, stats, edges }
  const feeds = createFeeds(
    { collections, core, outbox, transactions, versions, mint, now },
    config.feed,
  )
  const tasks = createTasks({
    ...feeds,
    collections,
    outbox,
    users,
    graph,
    posts,
    engagements,
    orphaned,
    idempotency,
    versions,
  })
  return {
    collections,
    transactions,
    edges,
    users,
    stats,
    follows,
    restrictions,
    mutuals,
    suggestions,
    posts,
    engagements,
    engagementReader,
    summaries,
    liked,
    outbox,
    queue,
    inline,
    versions,
    mint,
    now,
    tasks,
    ...feeds,
  }
}
