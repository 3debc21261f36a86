import { setTimeout as sleep } from 'node:timers/promises'
import type { ClientSession, MongoClient } from 'mongodb'
import { DomainError } from '../errors.ts'
import { backoffMs } from '../lib/backoff.ts'
import { stopwatch } from '../lib/stopwatch.ts'
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
import type { FirstResult, IdempotencyKey, IdempotencyStore } from './idempotency.ts'
import type { Tx } from './mongo.ts'

export type { Tx }

/** Thrown by the work of a transaction that would succeed at its next try. */
export class TryAgain extends Error {
  override readonly name = 'TryAgain'
}

/** A read-only view of the database at one instant. */
export interface SnapshotTx extends Tx {
  /** Required in every read. Without it, the driver reads the current data. */
  readonly readConcern: { readonly level: 'snapshot' }
}

/** How long a transaction may take, in milliseconds. */
export interface TransactionBounds {
  /** When the last try begins at the latest. */
  readonly tryMsMax: number
  /** When the caller gets its answer at the latest, also if the database does not answer. */
  readonly answerMsMax: number
}

/**
 * The last try begins after 5 s at the latest. A socket is silent for at most 3 s more, so the
 * caller learns the cause. Within these 8 s, the server ends the transactions of a killed process,
 * see `lifetime.ts`.
 */
export const transactionBounds: TransactionBounds = { tryMsMax: 5_000, answerMsMax: 8_000 }

/** The state of a transaction, for a caller that may stop waiting. */
interface TransactionState {
  abandoned: boolean
  /** Whether a commit was sent and not answered. */
  committing: boolean
  /** The time since the begin of the run, in milliseconds. */
  readonly elapsedMs: () => number
}

/**
 * Opens, retries and commits transactions. Every write of more than one document goes through it.
 */
export class Transactions {
  constructor(
    private readonly client: Pick<MongoClient, 'startSession'>,
    readonly idempotency: IdempotencyStore,
    private readonly bounds: TransactionBounds = transactionBounds,
  ) {}

  /**
   * Runs `work` in a transaction on one snapshot. Retries it for up to 5 s after a collision or a
   * temporary failure. After a duplicate key, the next try reads the document of the other write.
   * The caller gets its answer within 8 s. A transaction that is open after that is never
   * committed, also by a process that was stopped or suspended meantime, or whose wall clock was
   * set forward.
   * @param work writes only in the transaction, so a failed try leaves nothing.
   * @param idempotencyKey stores flags and ids of the result in the same transaction. A repeat
   *   within a day returns them and runs nothing.
   * @param onCollision called with the error before each retry. If it throws, the run ends with
   *   that error.
   * @throws {DomainError} UNAVAILABLE after the deadline, with the cause. CONFLICT if the
   *   clientMutationId was used for another mutation or input.
   * Cost: the commands of `work` and one commit. With a key, two reads and one insert more, and one
   * read for a refusal.
   * @see law L4
   */
  async run<T>(
    work: (tx: Tx) => Promise<T>,
    idempotencyKey?: undefined,
    onCollision?: (error: unknown) => void,
  ): Promise<T>
  async run<T>(
    work: (tx: Tx) => Promise<T>,
    idempotencyKey: IdempotencyKey | undefined,
    onCollision?: (error: unknown) => void,
  ): Promise<T | FirstResult<T>>
  async run<T>(
    work: (tx: Tx) => Promise<T>,
    idempotencyKey?: IdempotencyKey,
    onCollision: (error: unknown) => void = () => {},
  ): Promise<T | FirstResult<T>> {
    const state = { abandoned: false, committing: false, elapsedMs: stopwatch() }
    return within(
      this.bounds.answerMsMax,
      this.attempt(work, idempotencyKey, onCollision, state),
      () => {
        state.abandoned = true
        return state.committing ? unknownOutcome() : noAnswer(undefined, nothingChanged)
      },
    )
  }

  private async attempt<T>(
    work: (tx: Tx) => Promise<T>,
    idempotencyKey: IdempotencyKey | undefined,
    onCollision: (error: unknown) => void,
    state: TransactionState,
  ): Promise<T | FirstResult<T>> {
    // The wall clock may be set during the run.
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
          await this.commit(session, giveUpAt, state)
          return result
        } catch (error) {
          if (session.inTransaction()) await session.abortTransaction()
          if (state.abandoned) throw error
          const passes = error instanceof TryAgain || isDuplicateKey(error) || isUnreachable(error)
          // A repeat may have committed this mutation and so refuse this try, for example because
          // the handle is taken.
          const refused = error instanceof DomainError && error.code !== 'UNAVAILABLE'
          const repeated =
            idempotencyKey && (isCollision(error) || refused)
              ? await this.idempotency.savedResult<T>(idempotencyKey, { session })
              : undefined
          if (repeated) return repeated.result
          if (!passes) throw error
          onCollision(error)
          if (performance.now() >= giveUpAt) throw deadlineError(error)
          await sleep(backoffMs(attempt, { baseMs: 4, capMs: 200 }))
          if (state.abandoned) throw error
        }
      }
    } finally {
      await session.endSession()
    }
  }

  /**
   * Runs reads that all see the database at the instant of the first one. They lock nothing and can
   * take longer than a transaction: up to `minSnapshotHistoryWindowInSeconds`, 5 minutes by
   * default.
   * @param read spreads all fields of `at` into the options of each read.
   * @throws an error for which {@link isSnapshotGone} is true, after that time.
   */
  async atSnapshot<T>(read: (at: SnapshotTx) => Promise<T>): Promise<T> {
    const session = this.client.startSession({ snapshot: true })
    try {
      return await read({ session, readConcern: { level: 'snapshot' } })
    } finally {
      await session.endSession()
    }
  }

  /** Commits, and repeats a commit without an answer. The server applies it once. */
  private async commit(
    session: ClientSession,
    giveUpAt: number,
    state: TransactionState,
  ): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      // After a stop or a suspension of this process, an answer of the database comes before the
      // timer of the deadline.
      if (state.abandoned || state.elapsedMs() >= this.bounds.answerMsMax)
        throw state.committing ? unknownOutcome() : noAnswer(undefined, nothingChanged)
      state.committing = true
      try {
        return await session.commitTransaction()
      } catch (error) {
        // It is certain that nothing was committed only if the server says that it ended the
        // transaction.
        if (isTransient(error) && !isCommitUnknown(error)) {
          state.committing = false
          throw error
        }
        const repeats = isCommitUnknown(error) || isUnreachable(error)
        if (!repeats || performance.now() >= giveUpAt) throw unknownOutcome(error)
        await sleep(backoffMs(attempt, { baseMs: 20, capMs: 500 }))
      }
    }
  }
}

const nothingChanged = 'Nothing was changed.'

/** The error after the deadline, with the cause of the last failure. */
const deadlineError = (cause: unknown): DomainError =>
  isCollision(cause)
    ? new DomainError(
        'UNAVAILABLE',
        `Other writes have locked the same data. ${nothingChanged} Try again later.`,
        { cause },
      )
    : noAnswer(cause, nothingChanged)

/** The error of a write that may have been committed. */
export const unknownOutcome = (cause?: unknown): DomainError =>
  new DomainError(
    'UNAVAILABLE',
    'It is not known whether the change was made. Repeat the mutation with the same clientMutationId.',
    { cause },
  )
