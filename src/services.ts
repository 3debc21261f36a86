import { openCollections } from './db/collections.ts'
import { IdempotencyStore } from './db/idempotency.ts'
import type { Db, MongoClient } from './db/mongo.ts'
import { Transactions } from './db/transaction.ts'
import type { ServiceConfig } from './feature.ts'
import {
  createLists,
  createParts,
  createPeriodicJobs,
  createTasks,
  invariants,
  type Lists,
  type Parts,
  reactions,
} from './features.ts'
import type { Check } from './integrity/invariant.ts'
import { InlineRunner } from './jobs/inline.ts'
import { Outbox } from './jobs/outbox.ts'
import type { PeriodicJobs } from './jobs/periodic.ts'
import { JobQueue } from './jobs/queue.ts'
import type { Tasks } from './jobs/runner.ts'
import { IdMint } from './lib/ids.ts'
import { ProcessMemory } from './memory/process-memory.ts'
import { type ContentValidator, contentValidators } from './posts/content.ts'
import { createNeedsJobs } from './timeline/registry/needs-jobs.ts'
import { Registry } from './timeline/registry/registry.ts'

export type { ServiceConfig } from './feature.ts'

/** The services over one database, wired once. */
export interface Services extends Parts {
  /** The task of every job kind. */
  readonly tasks: Tasks
  readonly periodic: PeriodicJobs
  readonly lists: Lists
  /** All invariants, in the order in which a run checks them. */
  readonly invariants: readonly Check[]
}

/** What services take from the process, beyond the configuration. */
export interface ServiceOptions {
  /** Content validators beyond the built-in ones. Default: none. */
  readonly validators?: readonly ContentValidator[]
  /** The database's clock, in milliseconds since 1970. Default: this machine's. */
  readonly now?: () => number
}

/** Builds every service: the core here, and those of features in the order of `features.ts`. */
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
  const memory = new ProcessMemory()
  const bytesMax = config.feed.pageCacheMb * 1024
  const registry = new Registry(collections.strategies, { memory, bytesMax })
  const parts = createParts({
    config,
    collections,
    transactions,
    idempotency,
    queue,
    inline,
    outbox: new Outbox(collections.outbox, mint, inline, reactions),
    ...{ memory, registry, needsJobs: createNeedsJobs({ registry, memory }) },
    mint,
    now,
    validators: contentValidators(config.posts.blockedWords, more),
  })
  return {
    ...parts,
    tasks: createTasks(parts),
    periodic: createPeriodicJobs(parts),
    lists: createLists(parts),
    invariants,
  }
}
