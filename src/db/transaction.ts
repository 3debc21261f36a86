import { setTimeout as sleep } from 'node:timers/promises'
import type { ClientSession, MongoClient } from 'mongodb'
import { DomainError } from '../errors.ts'
import { backoffMs } from '../lib/backoff.ts'
import { commandMsMax } from './client.ts'
import { isCommitUnknown, isDuplicateKey, isTransient } from './errors.ts'
import type { Once, OnceKey } from './once.ts'

/** An open transaction: every command of a write carries it. */
export interface Tx {
  readonly session: ClientSession
}

/** How long a transaction is tried, in milliseconds. */
const deadlineMs = 5_000

/** The one way to write more than one document: opens, retries and commits transactions. */
export class Transactions {
  constructor(
    private readonly client: MongoClient,
    readonly once: Once,
  ) {}

  /**
   * Runs `work` in a transaction on one snapshot, and again when it collides with another, for up to 5 s.
   * `work` must write nothing outside the transaction: a try that collided leaves nothing.
   * A duplicate key means that a neighbour committed first: the next try reads what it wrote.
   * With `once`, the result is stored in the same transaction; a repeat within a day returns it and runs nothing.
   * @param onCollision is called with the error before each further try; what it throws ends the run instead.
   * Cost: `work`'s commands, one commit, and with `once` one find and one insert.
   * @throws {DomainError} UNAVAILABLE past the deadline; CONFLICT when the clientMutationId was used for another input.
   * @see law L4
   */
  async run<T>(
    work: (tx: Tx) => Promise<T>,
    once?: OnceKey,
    onCollision: (error: unknown) => void = () => {},
  ): Promise<T> {
    const before = once && (await this.once.firstResult<T>(once))
    if (before) return before.result
    // Not by the clock on the wall, which may be set while it runs.
    const giveUpAt = performance.now() + deadlineMs
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
          if (once) await this.once.remember([{ key: once, result }], { session })
          await this.commit(session, giveUpAt)
          return result
        } catch (error) {
          if (session.inTransaction()) await session.abortTransaction()
          const collided = isTransient(error) || isDuplicateKey(error)
          // What refuses this try may be the very mutation, committed by a repeat meanwhile: a handle is taken, by itself.
          const refused = error instanceof DomainError && error.code !== 'UNAVAILABLE'
          const repeated =
            once && (collided || refused) ? await this.once.firstResult<T>(once) : undefined
          if (repeated) return repeated.result
          if (!collided) throw error
          onCollision(error)
          if (performance.now() >= giveUpAt) {
            throw new DomainError(
              'UNAVAILABLE',
              'Too many writes meet here now. Nothing was changed. Try again later.',
              { cause: error },
            )
          }
          await sleep(backoffMs(attempt, { baseMs: 4, capMs: 200 }))
        }
      }
    } finally {
      await session.endSession()
    }
  }

  /**
   * Runs reads, which all see the database as it was when the first of them came: nothing is locked, and they may take
   * longer than a transaction, up to what the server keeps (`minSnapshotHistoryWindowInSeconds`, 5 minutes).
   * @throws what {@link isSnapshotGone} knows, beyond that.
   */
  async atSnapshot<T>(read: (at: Tx) => Promise<T>): Promise<T> {
    const session = this.client.startSession({ snapshot: true })
    try {
      return await read({ session })
    } finally {
      await session.endSession()
    }
  }

  /** Repeats a commit whose answer was lost: the server applies it once. */
  private async commit(session: ClientSession, giveUpAt: number): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await session.commitTransaction()
      } catch (error) {
        if (!isCommitUnknown(error)) throw error
        if (performance.now() >= giveUpAt) {
          throw new DomainError(
            'UNAVAILABLE',
            'It is not known whether the change was made. Repeat it with the same clientMutationId, or look.',
            { cause: error },
          )
        }
        await sleep(backoffMs(attempt, { baseMs: 20, capMs: 500 }))
      }
    }
  }
}
