import { setTimeout as sleep } from 'node:timers/promises'
import type { ClientSession, MongoClient } from 'mongodb'
import { DomainError } from '../errors.ts'
import { backoffMs } from '../lib/backoff.ts'
import { within } from '../lib/within.ts'
import { commandMsMax } from './client.ts'
import {
  isCollision,
  isCommitUnknown,
  isDuplicateKey,
  isTransient,
  isUnreachable,
  noAnswer,
} from './errors.ts'
import type { IdempotencyKey, IdempotencyStore } from './idempotency.ts'

/** An open transaction: every command of a write carries it. */
export interface Tx {
  readonly session: ClientSession
}

/** A transaction's view of the past: reads alone, all at one instant. */
export interface SnapshotTx extends Tx {
  /** Named in every read: without it the driver would read what is there now. */
  readonly readConcern: { readonly level: 'snapshot' }
}

/** How long a transaction may take, in milliseconds. */
export interface TransactionBounds {
  /** No try begins later than this. */
  readonly tryMsMax: number
  /** The caller has its answer by then, whatever the database does. */
  readonly answerMsMax: number
}

/**
 * The last try may begin after 5 s. 3 s more are the longest that a socket may be silent, so the caller learns the
 * cause. By then the server has ended the transactions of a killed process, see `lifetime.ts`.
 */
export const transactionBounds: TransactionBounds = { tryMsMax: 5_000, answerMsMax: 8_000 }

/** What is known about a transaction that its caller no longer waits for. */
interface Fate {
  abandoned: boolean
  /** A commit was sent, and its answer has not come. */
  committing: boolean
}

/** The one way to write more than one document: opens, retries and commits transactions. */
export class Transactions {
  constructor(
    private readonly client: MongoClient,
    readonly idempotency: IdempotencyStore,
    private readonly bounds: TransactionBounds = transactionBounds,
  ) {}

  /**
   * Runs `work` in a transaction on one snapshot, and again after a collision or a failure that may pass, for up to 5 s.
   * `work` must write nothing outside the transaction: a try that failed leaves nothing.
   * A duplicate key means that a neighbour committed first: the next try reads what it wrote.
   * With `idempotencyKey`, the result is stored in the same transaction; a repeat within a day returns it and runs nothing.
   * The caller has its answer within 8 s. A transaction that is still under way then is never committed.
   * @param onCollision is called with the error before each further try; what it throws ends the run instead.
   * Cost: `work`'s commands, one commit, and with `idempotencyKey` two reads and one insert; one read more for a refusal.
   * @throws {DomainError} UNAVAILABLE past the deadline, with the cause; CONFLICT when the clientMutationId was used
   *   for another input.
   * @see law L4
   */
  async run<T>(
    work: (tx: Tx) => Promise<T>,
    idempotencyKey?: IdempotencyKey,
    onCollision: (error: unknown) => void = () => {},
  ): Promise<T> {
    const fate: Fate = { abandoned: false, committing: false }
    return within(
      this.bounds.answerMsMax,
      this.attempt(work, idempotencyKey, onCollision, fate),
      () => {
        fate.abandoned = true
        return fate.committing ? unknownOutcome() : noAnswer(undefined, nothingChanged)
      },
    )
  }

  private async attempt<T>(
    work: (tx: Tx) => Promise<T>,
    idempotencyKey: IdempotencyKey | undefined,
    onCollision: (error: unknown) => void,
    fate: Fate,
  ): Promise<T> {
    // Not by the clock on the wall, which may be set while it runs.
    const giveUpAt = performance.now() + this.bounds.tryMsMax
    const before = idempotencyKey && (await this.idempotency.savedResult<T>(idempotencyKey))
    if (before) return before.result
    const session = this.client.startSession({
      defaultTransactionOptions: {
        readConcern: { level: 'snapshot' },
        writeConcern: { w: 'majority' },
        maxCommitTimeMS: commandMsMax,
      },
    })
    try {
      for (let attempt = 1; ; attempt++) {
        try {
          session.startTransaction()
          const result = await work({ session })
          if (idempotencyKey)
            await this.idempotency.saveResults([{ key: idempotencyKey, result }], { session })
          await this.commit(session, giveUpAt, fate)
          return result
        } catch (error) {
          if (session.inTransaction()) await session.abortTransaction()
          if (fate.abandoned) throw error
          const passes = isDuplicateKey(error) || isUnreachable(error)
          // What refuses this try may be the very mutation, which a repeat committed before: a handle is taken, by itself.
          const refused = error instanceof DomainError && error.code !== 'UNAVAILABLE'
          const repeated =
            idempotencyKey && (isCollision(error) || refused)
              ? await this.idempotency.savedResult<T>(idempotencyKey, { session })
              : undefined
          if (repeated) return repeated.result
          if (!passes) throw error
          onCollision(error)
          if (performance.now() >= giveUpAt) throw givenUp(error)
          await sleep(backoffMs(attempt, { baseMs: 4, capMs: 200 }))
          if (fate.abandoned) throw error
        }
      }
    } finally {
      await session.endSession()
    }
  }

  /**
   * Runs reads, which all see the database as it was when the first of them came: nothing is locked, and they may take
   * longer than a transaction, up to what the server keeps (`minSnapshotHistoryWindowInSeconds`, 5 minutes).
   * Each read spreads the whole of `at` into its options.
   * @throws what {@link isSnapshotGone} knows, beyond that.
   */
  async atSnapshot<T>(read: (at: SnapshotTx) => Promise<T>): Promise<T> {
    const session = this.client.startSession({ snapshot: true })
    try {
      return await read({ session, readConcern: { level: 'snapshot' } })
    } finally {
      await session.endSession()
    }
  }

  /** Repeats a commit whose answer was lost: the server applies it once. */
  private async commit(session: ClientSession, giveUpAt: number, fate: Fate): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      if (fate.abandoned) throw noAnswer(undefined, nothingChanged)
      fate.committing = true
      try {
        return await session.commitTransaction()
      } catch (error) {
        // Only where the server says that it ended the transaction is it certain that nothing was committed.
        if (isTransient(error) && !isCommitUnknown(error)) {
          fate.committing = false
          throw error
        }
        if (!isCommitUnknown(error) && !isUnreachable(error)) throw error
        if (performance.now() >= giveUpAt) throw unknownOutcome(error)
        await sleep(backoffMs(attempt, { baseMs: 20, capMs: 500 }))
      }
    }
  }
}

const nothingChanged = 'Nothing was changed.'

/** Says why the last try failed. */
const givenUp = (cause: unknown): DomainError =>
  isCollision(cause)
    ? new DomainError(
        'UNAVAILABLE',
        `Other writes have locked the same data. ${nothingChanged} Try again later.`,
        { cause },
      )
    : noAnswer(cause, nothingChanged)

/** The answer to a write that may have been made. */
export const unknownOutcome = (cause?: unknown): DomainError =>
  new DomainError(
    'UNAVAILABLE',
    'It is not known whether the change was made. Repeat the mutation with the same clientMutationId.',
    { cause },
  )
