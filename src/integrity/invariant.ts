import type { Collections } from '../db/collections.ts'
import type { ShapedName } from '../db/shapes.ts'
import type { Transactions, Tx } from '../db/transaction.ts'
import type { Feeds } from '../feed/feeds.ts'
import type { Edges } from '../follows/edges.ts'
import type { Outbox } from '../jobs/outbox.ts'
import type { IdMint } from '../lib/ids.ts'
import type { UserStats } from '../users/stats.ts'
import type { Difference } from './ledger.ts'
import type { Report } from './report.ts'

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
}

/** A run of `verify` or `reconcile`, which updates its report. */
export interface Run extends IntegrityServices {
  /** False: nothing is written. */
  readonly repair: boolean
  readonly report: Report
  /** Ends the run between two steps, or during a scan of malformed documents by the server. */
  readonly signal?: AbortSignal | undefined
  /** The collections in which the run has found, and not repaired, a document of another shape. */
  readonly malformed: Set<ShapedName>
}

/** The name of an invariant in reports, errors and `docs/reference/integrity.md`, and its law. */
export interface InvariantId {
  /** The name of its file in `invariants`. */
  readonly name: string
  readonly law: 'L1' | 'L2' | 'L3' | 'L4'
}

/** The expected and the stored state of a subject. */
interface Discrepancy {
  /** The violated part of the invariant. `docs/reference/integrity.md` lists all kinds. */
  readonly kind: string
  /** The user, post, pair or timeline that violates it. */
  readonly subject: string
  readonly expected: string | number
  readonly found: string | number
  /** Why `reconcile` does not repair it. Absent: `reconcile` repairs it. */
  readonly unrepairable?: string
}

/** A discrepancy as `verify` and `reconcile` report it. */
export interface Finding extends Discrepancy {
  readonly law: InvariantId['law']
  /** The name of the violated invariant. */
  readonly invariant: string
}

/** Reports a discrepancy under the law and the name of its invariant. */
export const findingOf = ({ name, law }: InvariantId, discrepancy: Discrepancy): Finding => ({
  ...{ law, invariant: name },
  ...discrepancy,
})

/** The part of a finding about missing data while a malformed document may be what is missing. */
export const uncertain = {
  unrepairable:
    'A document with a finding of the kind shape may be what is missing. Correct it first.',
}

/** A finding, with the data that its invariant needs for the repair. */
export interface Violation {
  readonly finding: Finding
  /** What must be added to counters. The {@link Ledger} repairs the violation, not the invariant. */
  readonly difference?: Difference
}

/** The result of a check. */
export interface Verdict<V extends Violation = Violation> {
  readonly violations: readonly V[]
  /** The number of suspects that a waiting job repairs. */
  readonly inFlight?: number
}

/** One invariant of the stored data. `verify` and `reconcile` use the same definition. */
export interface Invariant<Range, Suspect = unknown, V extends Violation = Violation>
  extends InvariantId {
  /** Reads a part of the database and yields suspects. Its reads share no snapshot. */
  scan(range: Range): AsyncIterable<Suspect>
  /**
   * Decides about suspects. All reads are on the snapshot or in the transaction of `at`.
   * @param counts false: violations with a difference may be left out, and nothing is counted.
   */
  check(suspects: readonly Suspect[], at: Tx, counts: boolean): Promise<Verdict<V>>
  /** Changes a document that every competing write changes. Called first in the transaction of a repair. */
  lock?(tx: Tx, suspects: readonly Suspect[]): Promise<unknown>
  /** Repairs violations in the transaction that checked them again. Absent: only differences are repaired. */
  repair?(tx: Tx, violations: readonly V[]): Promise<void>
}
