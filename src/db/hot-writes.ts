import { setTimeout as sleep } from 'node:timers/promises'
import { ObjectId } from 'mongodb'
import { DomainError, type ErrorCode, type ErrorDetails } from '../errors.ts'
import { requestTimeout, singleBatch } from './client.ts'
import type { Collections, HotWriteDoc } from './collections.ts'
import { Poisoned } from './collisions.ts'
import { overloaded } from './group-commit.ts'
import type { Tx } from './transaction.ts'

/** By the request's own id. */
const hint = { _id: 1 } as const

/** A stored write or result. */
export type Packed = Readonly<Record<string, unknown>>

/** How long a request waits for its answer, and how long an owner may begin to commit it, in milliseconds. */
const waitMsMax = 4_000
const takenMsMax = 4_500
/** When a process looks for its answer: first when answers usually come, then after a share of the time waited. */
const pollMs = { least: 2, most: 40, first: 0.9, share: 0.15 }

/** How long requests whose answers were read wait to be removed by one command, in milliseconds. */
const removeAfterMs = 300

/** Thrown when a request was withdrawn before it could be answered. Nothing was written. */
export class Withdrawn extends Error {
  override readonly name = 'Withdrawn'
}

/** The writes that processes ask the owner of a hot key to commit, and their answers. */
export class HotWrites {
  /** How long the last answers took, in milliseconds. */
  private expectedMs = 10
  /** Requests whose answers were read, until they are removed together. */
  private readIds: ObjectId[] = []
  private removal: NodeJS.Timeout | undefined

  constructor(private readonly writes: Collections['hot_writes']) {}

  /**
   * Asks the owner of `key` to commit `ops` and waits for the answers, for up to 4 s; a majority holds them then.
   * Costs one command and one for each look, which the usual time to an answer spaces.
   * @param whileWaiting is called between two looks with the milliseconds waited.
   * @throws {DomainError} UNAVAILABLE when no owner answered; nothing was written then.
   * @throws {Poisoned} when each of `ops` must be committed alone.
   */
  async ask(
    key: string,
    ops: readonly Packed[],
    whileWaiting: (waitedMs: number) => Promise<void>,
  ): Promise<readonly Packed[]> {
    const _id = new ObjectId()
    await this.writes.updateOne(
      { _id, key },
      { $set: { ops }, $currentDate: { at: true } },
      { ...requestTimeout, upsert: true, writeConcern: { w: 1 } },
    )
    const askedAt = performance.now()
    let pause = this.expectedMs * pollMs.first
    for (;;) {
      await sleep(pause)
      const waitedMs = performance.now() - askedAt
      const isLast = waitedMs >= waitMsMax
      // A request that is withdrawn is removed; the removal waits for a majority, and so for answers that came before it.
      const found = isLast
        ? await this.writes.findOneAndDelete({ _id, key }, requestTimeout)
        : await this.writes.findOne(
            { _id, answers: { $exists: true } },
            { ...requestTimeout, hint },
          )
      if (found?.answers !== undefined && !isLast) this.removeSoon(_id)
      if (found?.answers) {
        this.expectedMs = this.expectedMs * 0.8 + Math.min(waitedMs, 100) * 0.2
        return found.answers
      }
      if (found?.answers === null)
        throw new Poisoned('The owner of the key cannot commit the batch')
      if (isLast) throw overloaded()
      await whileWaiting(waitedMs)
      pause = Math.min(Math.max(waitedMs * pollMs.share, pollMs.least), pollMs.most)
    }
  }

  /** Removes a request whose answers were read, with others of the same time: what stays is removed within an hour. */
  private removeSoon(_id: ObjectId): void {
    this.readIds.push(_id)
    this.removal ??= setTimeout(() => {
      const ids = this.readIds
      this.readIds = []
      this.removal = undefined
      this.writes.deleteMany({ _id: { $in: ids } }, { writeConcern: { w: 1 } }).catch(() => {})
    }, removeAfterMs).unref()
  }

  /**
   * The oldest requests for a key that may still be answered, at most `limit`. They need not be held by a majority: the
   * transaction that answers a request changes it, so the answer is committed after the request or not at all.
   * One command.
   */
  async pending(key: string, limit: number): Promise<readonly HotWriteDoc[]> {
    return this.writes
      .find(
        {
          key,
          answers: { $exists: false },
          $expr: { $gt: ['$at', { $subtract: ['$$NOW', takenMsMax] }] },
        },
        { ...singleBatch, promoteBuffers: true, readConcern: { level: 'local' } },
      )
      .sort({ at: 1 })
      .limit(limit)
      .toArray()
  }

  /** Answers requests in the transaction that commits them. One command. @throws {Withdrawn} when one is gone. */
  async answer(
    tx: Tx,
    answers: readonly { readonly request: HotWriteDoc; readonly answers: readonly Packed[] }[],
  ): Promise<void> {
    const updates = answers.map(({ request: { _id, key }, answers }) => ({
      updateOne: {
        filter: { _id, key, answers: { $exists: false } },
        update: { $set: { answers } },
      },
    }))
    const { matchedCount } = await this.writes.bulkWrite(updates, { session: tx.session })
    if (matchedCount < updates.length) throw new Withdrawn('A request was withdrawn')
  }

  /** Has the asking processes commit each of their writes alone. One command. */
  async refuse(key: string, requests: readonly HotWriteDoc[]): Promise<void> {
    await this.writes.updateMany(
      { key, _id: { $in: requests.map(({ _id }) => _id) }, answers: { $exists: false } },
      { $set: { answers: null } },
      requestTimeout,
    )
  }
}

/** The stored form of an answer. An error that no client may read is the owner's, and is thrown there. */
export function packAnswer(answer: unknown): Packed {
  if (!(answer instanceof Error)) return { result: answer }
  if (!(answer instanceof DomainError)) throw answer
  const { argument, limit } = answer.details
  return { error: { code: answer.code, message: answer.message, argument, limit } }
}

/** The answer that {@link packAnswer} stored. */
export function unpackAnswer<Result>({ result, error }: Packed): Result | DomainError {
  if (error === undefined) return result as Result
  const { code, message, ...details } = error as ErrorDetails & {
    readonly code: ErrorCode
    readonly message: string
  }
  return new DomainError(code, message, details)
}
