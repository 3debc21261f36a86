import type { Collections } from '../db/collections.ts'
import type { Transactions, Tx } from '../db/transaction.ts'
import type { Feeds } from '../feed/feeds.ts'
import type { Edges } from '../follows/edges.ts'
import type { Outbox } from '../jobs/outbox.ts'
import type { IdMint } from '../lib/ids.ts'

/** What integrity checks read and repair through: the services over one database. */
export interface IntegrityServices extends Pick<Feeds, 'registry' | 'strategies' | 'backfill'> {
  readonly feed: Pick<Feeds['feed'], 'timeline'>
  readonly collections: Collections
  readonly transactions: Transactions
  readonly edges: Edges
  readonly outbox: Outbox
  readonly mint: IdMint
  /** The database's clock, in milliseconds since 1970. */
  readonly now: () => number
}

/** An invariant as reports, errors and `docs/integrity.md` name it, and the law that it is part of. */
export interface InvariantId {
  /** The name of its file in `invariants`. */
  readonly name: string
  readonly law: 'L1' | 'L2' | 'L3' | 'L4'
}

/** What an invariant expects of a subject, and what is stored. */
export interface Discrepancy {
  /** Which part of the invariant is violated. `docs/integrity.md` lists all kinds. */
  readonly kind: string
  /** The user, post, pair or timeline that violates it. */
  readonly subject: string
  readonly expected: string | number
  readonly found: string | number
  /** Why `reconcile` reports it and does not repair it. Absent: it repairs it. */
  readonly unrepairable?: string
  /** No answer to a client depends on it: reading passes over it. */
  readonly harmless?: true
}

/** A discrepancy as `verify` and `reconcile` report it. */
export interface Finding extends Discrepancy {
  readonly law: InvariantId['law']
  /** The name of the invariant that is violated. */
  readonly invariant: string
}

/** Reports a discrepancy under the law and the name of its invariant. */
export const findingOf = ({ name, law }: InvariantId, discrepancy: Discrepancy): Finding => ({
  ...{ law, invariant: name },
  ...discrepancy,
})

/** A finding, with what its invariant needs to repair it. */
export interface Violation {
  readonly finding: Finding
  /** Handles of users whose counters count what the repair changes. */
  readonly touched?: readonly string[]
}

/** The result of a recheck. */
export interface Verdict<V extends Violation = Violation> {
  readonly violations: readonly V[]
  /** How many suspects a waiting job will put right. */
  readonly inFlight?: number
}

/**
 * One invariant of the stored data: how to find suspects, how to check them again, and how to repair them. `verify`
 * and `reconcile` use the same definition.
 */
export interface Invariant<Range, Suspect = unknown, V extends Violation = Violation>
  extends InvariantId {
  /** Reads a part of the database and yields what may violate the invariant. Its reads are on no common snapshot. */
  scan(range: Range): AsyncIterable<Suspect>
  /** Checks suspects again. All reads are on the snapshot or in the transaction of `at`. */
  recheck(suspects: readonly Suspect[], at: Tx): Promise<Verdict<V>>
  /** Writes to documents that every competing write changes. Called first in the transaction of a repair. */
  lock?(tx: Tx, suspects: readonly Suspect[]): Promise<unknown>
  /** Repairs violations in the transaction that rechecked them. Absent: all of them are unrepairable. */
  repair?(tx: Tx, violations: readonly V[]): Promise<void>
}
