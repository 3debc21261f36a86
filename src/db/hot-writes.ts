import { setTimeout as sleep } from 'node:timers/promises'
import { ObjectId } from 'mongodb'
import { DomainError, type ErrorCode, type ErrorDetails } from '../errors.ts'
import { requestTimeout, singleBatch } from './client.ts'
import type { Collections, HotWriteDoc } from './collections.ts'
import { Poisoned } from './collisions.ts'
import { overloaded } from './group-commit.ts'
import type { Tx } from './transaction.ts'

/** The index of a read by the id of a request. */
const hint = { _id: 1 } as const

/** A stored write or result. */
export type Packed = Readonly<Record<string, unknown>>

/** How long a request waits for its answer, and how old a request an owner still takes, in milliseconds. */
const waitMsMax = 4_000
const takenMsMax = 4_500
/**
 * When a process polls for its answer: after `first` of the usual time, then after `share` of the time it has waited.
 */
const pollMs = { least: 2, most: 40, first: 0.9, share: 0.15 }

/** How long answered requests wait until one command removes them, in milliseconds. */
const removeAfterMs = 300

/** Thrown if a request was withdrawn before it was answered. Nothing was written. */
export class Withdrawn extends Error {
  override readonly name = 'Withdrawn'
}

/** Stores the writes that processes request from the owner of a hot key, and their answers. */
export class HotWrites {
  /** The usual time to an answer, in milliseconds: a moving average. */
  private expectedMs = 10
  /** The answered requests that are not removed yet. */
  private answered: Pick<HotWriteDoc, '_id' | 'key'>[] = []
  private removal: NodeJS.Timeout | undefined

  constructor(private readonly writes: Collections['hot_writes']) {}

  /**
   * Requests that the owner of a key commits writes, and waits up to 4 s for the answers. They are majority-committed.
   * @param whileWaiting called after each poll with the time waited, in milliseconds.
   * @throws {DomainError} UNAVAILABLE if no owner answered. Nothing was written then.
   * @throws {Poisoned} if each write must be committed alone.
   * Cost: one command, and one for each poll.
   */
  async requestCommit(
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
      // A withdrawal removes the request. The removal waits for a majority, and so also for an earlier answer.
      const found = isLast
        ? await this.writes.findOneAndDelete({ _id, key }, requestTimeout)
        : await this.writes.findOne(
            { _id, key, answers: { $exists: true } },
            { ...requestTimeout, hint },
          )
      if (found?.answers !== undefined && !isLast) this.removeSoon({ _id, key })
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

  /** Removes an answered request, together with others. A request that stays expires within an hour. */
  private removeSoon(request: Pick<HotWriteDoc, '_id' | 'key'>): void {
    this.answered.push(request)
    this.removal ??= setTimeout(() => {
      const [keys, ids] = [this.answered.map(({ key }) => key), this.answered.map(({ _id }) => _id)]
      this.answered = []
      this.removal = undefined
      const requests = { key: { $in: keys }, _id: { $in: ids } }
      this.writes.deleteMany(requests, { writeConcern: { w: 1 }, hint }).catch(() => {})
    }, removeAfterMs).unref()
  }

  /**
   * Loads the oldest unanswered requests for a key, at most `limit`. One command.
   * They need no majority: the transaction that answers a request changes it, so it commits after the request or never.
   */
  async loadRequests(key: string, limit: number): Promise<readonly HotWriteDoc[]> {
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

  /** Answers requests in the transaction that commits them. One command. @throws {Withdrawn} if one was withdrawn. */
  async answerRequests(
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

  /** Refuses requests as batches: the requesting processes commit each of their writes alone. One command. */
  async refuseRequests(key: string, requests: readonly HotWriteDoc[]): Promise<void> {
    await this.writes.updateMany(
      { key, _id: { $in: requests.map(({ _id }) => _id) }, answers: { $exists: false } },
      { $set: { answers: null } },
      requestTimeout,
    )
  }
}

/** Converts an answer into its stored form. @throws the answer itself if it is an internal error of the owner. */
export function packAnswer(answer: unknown): Packed {
  if (!(answer instanceof Error)) return { result: answer }
  if (!(answer instanceof DomainError)) throw answer
  const { argument, limit } = answer.details
  return { error: { code: answer.code, message: answer.message, argument, limit } }
}

/** Converts an answer that {@link packAnswer} stored. */
export function unpackAnswer<Result>({ result, error }: Packed): Result | DomainError {
  if (error === undefined) return result as Result
  const { code, message, ...details } = error as ErrorDetails & {
    readonly code: ErrorCode
    readonly message: string
  }
  return new DomainError(code, message, details)
}
