import type { Config } from './config.ts'
import type { Collections, featureCollections } from './db/collections.ts'
import type { IdempotencyStore } from './db/idempotency.ts'
import type { Transactions } from './db/transaction.ts'
import type { Reactions } from './events.ts'
import type { Invariants } from './integrity/invariant.ts'
import type { InlineRunner } from './jobs/inline.ts'
import type { NeedsJobs, Outbox } from './jobs/outbox.ts'
import type { PeriodicJob } from './jobs/periodic.ts'
import type { JobQueue } from './jobs/queue.ts'
import type { Task } from './jobs/runner.ts'
import type { IdMint } from './lib/ids.ts'
import type { ProcessMemory } from './memory/process-memory.ts'
import type { List } from './pages/pipeline.ts'
import type { ContentValidator } from './posts/content.ts'
import type { FeedConfig } from './timeline/config.ts'
import type { Registry } from './timeline/registry/registry.ts'
import type { RemovalPhase, RemovalStep } from './users/deletion.ts'

/** The part of the configuration that features depend on. */
export type ServiceConfig = Pick<
  Config,
  'following' | 'followeesMax' | 'users' | 'posts' | 'engagement'
> & { readonly feed: FeedConfig }

/** What every feature is built on. */
export interface Core {
  readonly config: ServiceConfig
  readonly collections: Collections
  readonly transactions: Transactions
  readonly idempotency: IdempotencyStore
  readonly queue: JobQueue
  readonly inline: InlineRunner
  readonly outbox: Outbox
  /** What the process keeps in memory. */
  readonly memory: ProcessMemory
  readonly registry: Registry
  readonly needsJobs: NeedsJobs
  readonly mint: IdMint
  /** The database's clock, in milliseconds since 1970. */
  readonly now: () => number
  /** Of all texts. */
  readonly validators: readonly ContentValidator[]
}

/** Where a feature keeps something, and the bound. @param share of the memory of PAGE_CACHE_MB. */
export const shareOfMemory = (
  { config, memory }: Pick<Core, 'config' | 'memory'>,
  share: number,
) => ({ memory, bytesMax: share * config.feed.pageCacheMb * 1024 * 1024 })

/** Lists by name, each for an argument, such as the kind of its entries. */
export type ListTable = Readonly<Record<string, (more: never) => List<never, unknown, unknown>>>

/**
 * What a feature declares beside its GraphQL API (`api.ts`) and its collections
 * (`db/collections.ts`). Nothing may be left out: a feature that stores nothing says so.
 * `features.ts` lists all features, and wires services, jobs and the removal of accounts from them.
 */
export interface Feature<Needs, Services, Kind extends string, Lists extends ListTable> {
  readonly name: string
  /** The kind of job with which it reacts to each event. */
  readonly reactions: Reactions<Kind>
  /** Builds its services from the core, and from services of features before it. */
  readonly create: (parts: Needs) => Services
  /** Its lists that clients page through, by the names of their loaders. */
  readonly lists: (parts: Needs & Services) => Lists
  /**
   * The task of each of its kinds of jobs. A task that runs again from its start changes nothing.
   */
  readonly tasks: (parts: Needs & Services) => Readonly<Record<Kind, Task>>
  /** Those of its jobs that are queued once in each period. */
  readonly periodic: (parts: Needs & Services) => readonly PeriodicJob<Kind>[]
  /** Removes what it stores of a deleted account. A repeat goes on where the last try ended. */
  readonly removal: (
    parts: Needs & Services,
  ) => Readonly<Partial<Record<RemovalPhase, RemovalStep>>>
  /** What always holds of the data it stores, for `verify` and `reconcile`. */
  readonly invariants: Invariants
}

/**
 * A feature as written, with the types of what it needs and creates. It does not compile without
 * its collections.
 */
export const defineFeature = <
  Needs,
  Services,
  Kind extends string,
  Lists extends ListTable,
  Name extends keyof typeof featureCollections,
>(
  feature: Feature<Needs, Services, Kind, Lists> & { readonly name: Name },
): Feature<Needs, Services, Kind, Lists> & { readonly name: Name } => feature
