import type { Collections } from '../db/collections.ts'
import type { Transactions, Tx } from '../db/transaction.ts'
import type { Feeds } from '../feed/feeds.ts'
import type { Edges } from '../follows/edges.ts'
import type { Outbox } from '../jobs/outbox.ts'
import type { IdMint } from '../lib/ids.ts'
import type { UserStats } from '../users/stats.ts'

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

/** The name of an invariant in reports, errors and `docs/reference/integrity.md`, and its law. */
export interface InvariantId {
  /** The name of its file in `invariants`. */
  readonly name: string
  readonly law: 'L1' | 'L2' | 'L3' | 'L4'
}

/** The expected and the stored state of a subject. */
export interface Discrepancy {
  /** The violated part of the invariant. `docs/reference/integrity.md` lists all kinds. */
  readonly kind: string
  /** The user, post, pair or timeline that violates it. */
  readonly subject: string
  readonly expected: string | number
  readonly found: string | number
  /** Why `reconcile` does not repair it. Absent: `reconcile` repairs it. */
  readonly unrepairable?: string
  /** Reads skip it, so no response to a client depends on it. */
  readonly harmless?: true
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

/** A finding, with the data that its invariant needs for the repair. */
export interface Violation {
  readonly finding: Finding
  /** Handles of users whose counters depend on the repaired documents. */
  readonly touched?: readonly string[]
}

/** The result of a recheck. */
export interface Verdict<V extends Violation = Violation> {
  readonly violations: readonly V[]
  /** The number of suspects that a waiting job repairs. */
  readonly inFlight?: number
}

/**
 * One invariant of the stored data: how to find suspects, how to check them again, and how to repair them. `verify`
 * and `reconcile` use the same definition.
 */
export interface Invariant<Range, Suspect = unknown, V extends Violation = Violation>
  extends InvariantId {
  /** Reads a part of the database and yields suspects. Its reads share no snapshot. */
  scan(range: Range): AsyncIterable<Suspect>
  /** Checks suspects again. All reads are on the snapshot or in the transaction of `at`. */
  recheck(suspects: readonly Suspect[], at: Tx): Promise<Verdict<V>>
  /** Changes a document that every competing write changes. Called first in the transaction of a repair. */
  lock?(tx: Tx, suspects: readonly Suspect[]): Promise<unknown>
  /** Repairs violations in the transaction that rechecked them. Absent: all violations are unrepairable. */
  repair?(tx: Tx, violations: readonly V[]): Promise<void>
}
