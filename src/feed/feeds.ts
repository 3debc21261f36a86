import type { Collections } from '../db/collections.ts'
import type { Transactions } from '../db/transaction.ts'
import type { Edges } from '../follows/edges.ts'
import type { Follows } from '../follows/follows.ts'
import type { Restrictions } from '../follows/restrictions.ts'
import type { TimelineUpkeep } from '../imports/upkeep.ts'
import type { Outbox } from '../jobs/outbox.ts'
import type { IdMint } from '../lib/ids.ts'
import type { Posts } from '../posts/posts.ts'
import type { UserStats } from '../users/stats.ts'
import { Backfill } from './backfill.ts'
import { Celebrities } from './celebrities.ts'
import type { FeedConfig } from './config.ts'
import { Delivery } from './delivery.ts'
import { DeliveryFactsReader } from './delivery-facts.ts'
import { EntryReader } from './entry-reader.ts'
import { configuredOptions, type Options, optionWarnings } from './options.ts'
import { PulledAuthors } from './pulled-authors.ts'
import { Registrations } from './registrations.ts'
import { Registry } from './registry.ts'
import { FanoutOnRead } from './strategies/fanout-on-read.ts'
import {
  type ByStrategy,
  createFilters,
  createStrategies,
  type FeedStrategyName,
  isMaterialised,
} from './strategies/list.ts'
import type { MaterialisedStrategy } from './strategies/strategy.ts'
import { FeedService } from './timeline/feed-service.ts'
import { PageFactsReader } from './timeline/page-facts.ts'
import { Pending } from './timeline/pending.ts'
import { Reasons } from './timeline/reasons.ts'
import { Upkeep } from './upkeep.ts'

/** What timelines are built upon. */
export interface FeedParts {
  readonly collections: Collections
  readonly core: {
    readonly follows: Follows
    readonly posts: Posts
    readonly restrictions: Restrictions
    readonly stats: UserStats
    readonly edges: Edges
  }
  readonly outbox: Outbox
  readonly transactions: Transactions
  readonly mint: IdMint
  readonly now: () => number
}

/** Timelines: how they are read, and what keeps them. */
export interface Feeds {
  readonly feed: FeedService
  readonly pending: Pending
  readonly reasons: Reasons
  readonly pageFacts: PageFactsReader
  readonly registry: Registry
  readonly registrations: Registrations
  readonly upkeep: TimelineUpkeep
  readonly strategies: ByStrategy<MaterialisedStrategy>
  /** The options that a new registration takes over from this process. */
  readonly configured: ByStrategy<Options>
  readonly celebrities: Celebrities
  readonly delivery: Delivery
  readonly backfill: Backfill
}

/** Wires every strategy: each delivers, whichever of them may be asked for here. */
export function createFeeds(
  { collections, core, outbox, transactions, mint, now }: FeedParts,
  config: FeedConfig,
): Feeds {
  const { follows, posts, edges } = core
  const registry = new Registry(collections.strategies)
  const pageFacts = new PageFactsReader(collections, edges)
  const entries = new EntryReader(posts, config.entries)
  const oracle = new FanoutOnRead(follows, posts)
  const pulled = new PulledAuthors(collections.pulled_authors)
  const celebrities = new Celebrities({ collections, pulled, outbox, transactions, mint })
  const parts = { collections, follows, posts, entries, pulled, celebrities, mint, now }
  const strategies = createStrategies(parts, config)
  const filters = createFilters(parts)
  const registrations = new Registrations({ collections, outbox, transactions, mint, filters })
  const served = config.maintained.filter(isMaterialised)
  const pending = new Pending(collections, edges)
  const feed = new FeedService({
    strategies: {
      FANOUT_ON_READ: oracle,
      ...Object.fromEntries(served.map((name) => [name, strategies[name]])),
    },
    standard: config.strategy,
    registry,
    pageFacts,
    pending,
    posts,
  })
  const delivery = new Delivery({
    strategies,
    filters,
    registry,
    facts: new DeliveryFactsReader(posts, collections, edges, config.entries),
    follows,
    inlineMax: config.inlineMax,
  })
  const backfill = new Backfill(
    { strategies, filters, registry, delivery, entries, follows, celebrities, pulled, oracle },
    collections.user_stats,
    transactions,
  )
  const reasons = new Reasons({ ...core, pending, registry })
  const configured = configuredOptions(config)
  return {
    feed,
    pending,
    reasons,
    pageFacts,
    registry,
    registrations,
    upkeep: new Upkeep(registrations, outbox),
    strategies,
    celebrities,
    configured,
    delivery,
    backfill,
  }
}

/**
 * Has the database maintain the strategies that are served here; those that are new are back-filled by a job.
 * A strategy that is registered already keeps its options.
 * @returns one sentence for each option that is configured otherwise here.
 * @throws {ConfigError} when one of them is being dropped.
 */
export async function registerStrategies(
  { registry, registrations, configured }: Pick<Feeds, 'registry' | 'registrations' | 'configured'>,
  maintained: readonly FeedStrategyName[],
): Promise<string[]> {
  const names = maintained.filter(isMaterialised)
  for (const name of names) await registrations.register(name, configured[name])
  return optionWarnings(await registry.read(), configured, names)
}
