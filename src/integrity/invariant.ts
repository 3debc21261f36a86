import type { Collections } from '../db/collections.ts'
import type { ShapedName } from '../db/shapes.ts'
import type { Transactions, Tx } from '../db/transaction.ts'
import type { Edges } from '../follows/edges.ts'
import type { Outbox } from '../jobs/outbox.ts'
import type { IdMint } from '../lib/ids.ts'
import type { Feeds } from '../timeline/feeds.ts'
import type { UserStats } from '../users/stats.ts'
import type { Difference } from './ledger.ts'
import type { Finding, InvariantId, Report } from './report.ts'

/**
 * The readers whose timelines are compared with FANOUT_ON_READ: a number of random readers, or all
 * readers.
 */
export type Readers = number | 'all'

/** The services of one database that integrity checks use. */
export interface IntegrityServices
  extends Pick<Feeds, 'registry' | 'registrations' | 'strategies' | 'backfill'> {
  readonly feed: Pick<Feeds['feed'], 'timeline'>
  readonly collections: Collections
  readonly transactions: Transactions
  readonly edges: Edges
  readonly outbox: Outbox
  readonly stats: UserStats
  readonly mint: IdMint
  /** The database's clock, in milliseconds since 1970. */
  readonly now: () => number
  /** All invariants, in the order in which a run checks them. */
  readonly invariants: readonly Check[]
}

/** A run of `verify` or `reconcile`, which updates its report. */
export interface Run extends IntegrityServices {
  /** False: nothing is written. */
  readonly repair: boolean
  readonly report: Report
  readonly readers: Readers
  /** Ends the run between two steps, or during a scan of malformed documents by the server. */
  readonly signal?: AbortSignal | undefined
  /** The collections in which the run has found, and not repaired, a document of another shape. */
  readonly malformed: Set<ShapedName>
}

/** A finding, with the data that its invariant needs for the repair. */
export interface Violation {
  readonly finding: Finding
  /**
   * What must be added to counters. `applyDifferences` repairs the violation, not the invariant.
   */
  readonly difference?: Difference
}

/** The result of a check. */
export interface Verdict<V extends Violation = Violation> {
  readonly violations: readonly V[]
  /** The number of suspects that a waiting job repairs. */
  readonly inFlight?: number
}

/** Checks an invariant of the whole database, and repairs what violates it if the run repairs. */
export type Check = (run: Run) => Promise<void>

/**
 * A run checks the invariants of all features phase by phase: what users wrote, then the counters
 * and metadata of it, which are counted when nothing that they count is repaired any more, then
 * what jobs derive from it.
 */
export const checkPhases = ['written', 'counted', 'derived'] as const

/** The invariants of a feature, by phase. */
export type Invariants = Readonly<Partial<Record<(typeof checkPhases)[number], readonly Check[]>>>

/** One invariant of the stored data. `verify` and `reconcile` use the same definition. */
export interface Invariant<Suspect = unknown, V extends Violation = Violation> extends InvariantId {
  /** Conditions that cut the database into parts. */
  readonly ranges: AsyncIterable<object> | Iterable<object>
  /** Reads a part of the database and yields suspects. Its reads share no snapshot. */
  scan(range: object): AsyncIterable<Suspect>
  /**
   * Decides about suspects. All reads are on the snapshot or in the transaction of `at`.
   * @param counts false: violations with a difference may be left out, and nothing is counted.
   */
  check(suspects: readonly Suspect[], at: Tx, counts: boolean): Promise<Verdict<V>>
  /**
   * Changes a document that every competing write changes. Called first in the transaction of a
   * repair.
   */
  lock?(tx: Tx, suspects: readonly Suspect[]): Promise<unknown>
  /**
   * Repairs violations in the transaction that checked them again. Absent: only differences are
   * repaired.
   */
  repair?(tx: Tx, violations: readonly V[]): Promise<void>
}
