import type { Collections } from '../db/collections.ts'
import type { Transactions, Tx } from '../db/transaction.ts'
import type { FeedService } from '../feed/feed.ts'
import type { Registry } from '../feed/registry.ts'
import type { Edges } from '../follows/edges.ts'
import { batches } from '../lib/batch.ts'

/** What is looked at, and through what. */
export interface VerifyServices {
  readonly collections: Collections
  readonly transactions: Transactions
  readonly edges: Edges
  readonly feed: Pick<FeedService, 'timeline'>
  readonly registry: Pick<Registry, 'read'>
}

/** Something that a law does not allow. */
export interface Difference {
  readonly law: 'L1' | 'L2' | 'L3'
  /** What of the law does not hold. */
  readonly kind: string
  /** What it does not hold of. */
  readonly subject: string
  readonly expected: string | number
  readonly found: string | number
}

/** Part of a run: how far it has come. */
export interface VerifyProgress {
  readonly part: 'users' | 'posts' | 'readers'
  readonly done: number
  /** An estimate. */
  readonly total: number
}

/** What a run has looked at so far. */
export class Tally {
  readonly checked = { users: 0, edges: 0, posts: 0, engagements: 0, readers: 0, timelines: 0 }
  /** What does not hold, and will once a job that waits has been run. */
  inFlight = 0
}

/** Suspects looked at again in one transaction. */
const suspectsAtOnce = 100

/**
 * Looks again at what a scan suspects, on one snapshot: a scan reads one thing after another, so that traffic may
 * have passed between; what is wrong on a snapshot is wrong. Holds a bounded number at a time.
 */
export async function* confirmed<Suspect>(
  { transactions }: Pick<VerifyServices, 'transactions'>,
  suspects: AsyncIterable<Suspect>,
  look: (some: readonly Suspect[], tx: Tx) => Promise<Verdict>,
  tally: Tally,
): AsyncGenerator<Difference> {
  for await (const some of batches(suspects, suspectsAtOnce)) {
    const { differences, inFlight = 0 } = await transactions.run((tx) => look(some, tx))
    tally.inFlight += inFlight
    yield* differences
  }
}

/** What a second look came to. */
export interface Verdict {
  readonly differences: readonly Difference[]
  readonly inFlight?: number
}
