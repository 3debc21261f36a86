import type { Collections } from '../db/collections.ts'
import type { Transactions } from '../db/transaction.ts'
import type { EngagementSummaries } from '../engagement/summaries.ts'
import type { Edges } from '../follows/edges.ts'
import type { Follows } from '../follows/follows.ts'
import type { KeptRelations } from '../follows/kept-relations.ts'
import type { Restrictions } from '../follows/restrictions.ts'
import type { Outbox } from '../jobs/outbox.ts'
import { RangeJobs } from '../jobs/ranges.ts'
import type { IdMint, UserId } from '../lib/ids.ts'
import type { ProcessMemory } from '../memory/process-memory.ts'
import type { KeptPosts } from '../posts/kept-posts.ts'
import type { Posts } from '../posts/posts.ts'
import type { Tails } from '../posts/tails.ts'
import type { KeptAccounts } from '../users/kept-accounts.ts'
import type { UserStats } from '../users/stats.ts'
import type { Visibility } from '../visibility/visibility.ts'
import type { FeedConfig } from './config.ts'
import { Backfill } from './delivery/backfill.ts'
import { Delivery } from './delivery/delivery.ts'
import { DeliveryFactsReader } from './delivery/delivery-facts.ts'
import { FollowerWalks } from './delivery/follower-walk.ts'
import { ReaderWalk } from './delivery/reader-walk.ts'
import { Sweep } from './delivery/sweep.ts'
import { TimelineFiller } from './delivery/timeline-filler.ts'
import { EntryReader } from './entry-reader.ts'
import { FeedService } from './pages/feed-service.ts'
import { NewsReader } from './pages/news.ts'
import { PageFactsReader } from './pages/page-facts.ts'
import { Pending } from './pages/pending.ts'
import { Reasons } from './pages/reasons.ts'
import { Watermarks } from './pages/watermark.ts'
import { configuredOptions, type Options, optionWarnings } from './registry/options.ts'
import { Registrations } from './registry/registrations.ts'
import type { Registry } from './registry/registry.ts'
import { Upkeep } from './registry/upkeep.ts'
import { FanoutOnRead } from './strategies/fanout-on-read.ts'
import {
  type ByStrategy,
  createStrategies,
  type FeedStrategyName,
  isMaterialised,
} from './strategies/list.ts'
import type { MaterialisedStrategy } from './strategies/strategy.ts'

/** The parts from which {@link createFeeds} builds the timeline services. */
export interface FeedParts {
  readonly collections: Collections
  readonly core: {
    readonly follows: Follows
    readonly posts: Posts
    readonly restrictions: Restrictions
    readonly stats: UserStats
    readonly edges: Edges
    readonly visibilityFor: (viewer: UserId) => Visibility
    readonly keptAccounts: KeptAccounts
    readonly keptRelations: KeptRelations
    readonly keptPosts: KeptPosts
    readonly tails: Tails
    readonly summaries: EngagementSummaries
  }
  readonly outbox: Outbox
  readonly transactions: Transactions
  readonly memory: ProcessMemory
  readonly registry: Registry
  readonly mint: IdMint
  readonly now: () => number
}

/** The services that read timelines, and the services that maintain stored timelines. */
export interface Feeds {
  readonly feed: FeedService
  readonly news: NewsReader
  readonly watermarks: Watermarks
  readonly pending: Pending
  readonly reasons: Reasons
  readonly pageFacts: PageFactsReader
  readonly registry: Registry
  readonly registrations: Registrations
  readonly upkeep: Upkeep
  readonly strategies: ByStrategy<MaterialisedStrategy>
  /** The options that a new registration takes from the configuration of this process. */
  readonly configured: ByStrategy<Options>
  readonly delivery: Delivery
  readonly backfill: Backfill
  readonly ranges: RangeJobs
  readonly walks: FollowerWalks
  readonly sweep: Sweep
}

/**
 * Wires the services of all strategies. Every strategy delivers, also if this process does not
 * serve it.
 */
export function createFeeds(
  { collections, core, outbox, transactions, memory, registry, mint, now }: FeedParts,
  config: FeedConfig,
): Feeds {
  const { follows, posts, edges, stats } = core
  const pageFacts = new PageFactsReader({ ...core, memory })
  const entries = new EntryReader(posts, config.entries)
  const fanoutOnRead = new FanoutOnRead({ ...core, memory })
  const registrations = new Registrations({ collections, outbox, transactions, mint, now })
  const parts = {
    collections,
    follows,
    posts,
    entries,
    fanoutOnRead,
    mint,
    now,
  }
  const strategies = createStrategies(parts, config)
  const served = config.maintained.filter(isMaterialised)
  const pending = new Pending(collections, memory, pageFacts)
  const watermarks = new Watermarks(pending, now)
  const feed = new FeedService({
    strategies: {
      FANOUT_ON_READ: fanoutOnRead,
      ...Object.fromEntries(served.map((name) => [name, strategies[name]])),
    },
    standard: config.strategy,
    registry,
    memory,
    pageFacts,
    pending,
    watermarks,
    posts,
  })
  const news = new NewsReader(feed, watermarks)
  const ranges = new RangeJobs({ jobs: collections.outbox, outbox, transactions })
  const walks = new FollowerWalks(follows, stats, ranges)
  const delivery = new Delivery({
    strategies,
    registry,
    facts: new DeliveryFactsReader({
      posts,
      collections,
      edges,
      registry,
      contents: config.entries,
    }),
    walks,
    inlineMax: config.inlineMax,
  })
  const filler = new TimelineFiller({
    delivery,
    entries,
    follows,
    posts,
    fanoutOnRead,
  })
  const readers = new ReaderWalk(collections.user_stats)
  const sweep = new Sweep({
    collections,
    registry,
    ranges,
    readers,
    transactions,
    now,
    keptMs: config.timelineDaysMax * 86_400_000 || Number.POSITIVE_INFINITY,
  })
  const backfill = new Backfill(
    {
      collections,
      transactions,
      filler,
      registry,
      ranges,
      delivery,
      entries,
      follows,
      raiseFloors: () => sweep.raiseFloors(),
      now,
    },
    readers,
  )
  const reasons = new Reasons({ ...core, pending, registry })
  const configured = configuredOptions(config)
  return {
    feed,
    news,
    watermarks,
    pending,
    reasons,
    pageFacts,
    registry,
    registrations,
    upkeep: new Upkeep(registrations, outbox),
    strategies,
    configured,
    delivery,
    backfill,
    ranges,
    walks,
    sweep,
  }
}

/**
 * Registers the strategies that this process serves. A job back-fills a new registration.
 * A registered strategy keeps its options.
 * @returns one sentence for each option with another value in this process.
 * @throws {ConfigError} if one of the strategies is being dropped.
 */
export async function registerStrategies(
  { registry, registrations, configured }: Pick<Feeds, 'registry' | 'registrations' | 'configured'>,
  maintained: readonly FeedStrategyName[],
): Promise<string[]> {
  const names = maintained.filter(isMaterialised)
  for (const name of names) await registrations.register(name, configured[name])
  return optionWarnings(await registry.read(), configured, names)
}
