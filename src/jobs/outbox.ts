import { randomUUID } from 'node:crypto'
import { bounded } from '../db/client.ts'
import type { Collections, JobDoc, JobLane } from '../db/collections.ts'
import type { Filter } from '../db/mongo.ts'
import { toObjectId } from '../db/object-id.ts'
import type { Tx } from '../db/transaction.ts'
import type { IdMint, TimeId } from '../lib/ids.ts'
import type { Inline } from './inline.ts'
import { inMs, type Job } from './queue.ts'

/** How a job is run. */
export interface JobOptions {
  /** Default: QUICK. BULK for what may take long. */
  readonly lane?: JobLane
}

/** Where a write leaves the work that must follow it. */
export class Outbox {
  /** @param inline runs what is promised {@link during} a write; without it workers do. */
  constructor(
    private readonly outbox: Collections['outbox'],
    private readonly mint: IdMint,
    private readonly inline?: Inline,
  ) {}

  /**
   * Promises a job that is due at once: it exists exactly when the caller's transaction commits.
   * One command.
   * @param payload what the task needs to find its way, plain JSON and small: ids, not documents.
   * @see law L4
   */
  async append(
    tx: Tx,
    kind: string,
    payload: JobDoc['payload'],
    options?: JobOptions,
  ): Promise<void> {
    await this.keep(tx, [this.promise(tx, kind, payload, options)])
  }

  /** As {@link append}, of a job that is yet to be kept in the same transaction: with those of others, in one command. */
  promise(_: Tx, kind: string, payload: JobDoc['payload'], options: JobOptions = {}): Job {
    return this.newJob(kind, payload, options.lane)
  }

  /**
   * Keeps promised jobs, whoever promised them. An upsert, because only an update can take `runAt` from the server's clock.
   * @param delayMs how much later than otherwise the jobs are due.
   */
  async keep(tx: Tx, jobs: readonly Job[], delayMs = 0): Promise<void> {
    const upserts = jobs.map(({ id, kind, payload, lane, attempts, fence, leaseMs }) => {
      const leased = leaseMs > 0 ? { leased: randomUUID() } : {}
      const state = 'READY' as const
      const fixed = { $literal: { kind, payload, state, lane, fence, attempts, ...leased } }
      const update = [
        { $replaceWith: { $mergeObjects: ['$$ROOT', fixed, { runAt: inMs(leaseMs + delayMs) }] } },
      ]
      return { updateOne: { filter: { _id: toObjectId(id) }, update, upsert: true } }
    })
    await this.outbox.bulkWrite(upserts, { session: tx.session })
  }

  /** Removes the jobs that match, within the caller's transaction. A worker that runs one loses its lease. One command. */
  async cancel(tx: Tx, jobs: Filter<JobDoc>): Promise<void> {
    await this.outbox.deleteMany(jobs, { session: tx.session })
  }

  /** Makes the jobs that match due at once, if no worker has ever claimed them. One command. */
  async hasten(jobs: Filter<JobDoc>): Promise<void> {
    const waiting = { ...jobs, state: 'READY' as const, fence: 0 }
    await this.outbox.updateMany(waiting, [{ $set: { runAt: '$$NOW' } }], bounded)
  }

  /**
   * Does a write, and then itself what was promised during it, as far as there is room; the rest is
   * due at once, as with {@link append}. Waits for what it runs, and throws only what `write` throws.
   * @param write runs one transaction, which may be tried several times, and promises in its body.
   */
  async during<T>(write: (promises: Promises) => Promise<T>): Promise<T> {
    const jobs: Job[] = []
    let slots = 0
    let lastTry: Tx | undefined
    const promise: Promises['promise'] = (tx, kind, payload, { lane } = {}) => {
      // Each try of a transaction has a Tx of its own; what an earlier one promised is void.
      if (tx !== lastTry) jobs.length = 0
      lastTry = tx
      if (jobs.length === slots && this.inline?.reserve()) slots++
      const leaseMs = jobs.length < slots ? this.inline?.leaseMs : undefined
      const job = this.newJob(kind, payload, lane, leaseMs)
      if (leaseMs !== undefined) jobs.push(job)
      return job
    }
    const append: Promises['append'] = (tx, ...job) => this.keep(tx, [promise(tx, ...job)])
    try {
      const result = await write({ append, promise })
      await Promise.all(jobs.map((job) => this.inline?.run(job)))
      return result
    } finally {
      this.inline?.release(slots)
    }
  }

  /** @param leaseMs with it, the job is born as this process's own. */
  private newJob(
    kind: string,
    payload: JobDoc['payload'],
    lane: JobLane = 'QUICK',
    leaseMs = 0,
  ): Job {
    const tries = leaseMs > 0 ? 1 : 0
    const id = this.mint.next<TimeId>()
    return {
      id,
      kind,
      payload,
      lane,
      checkpoint: undefined,
      attempts: tries,
      fence: tries,
      leaseMs,
    }
  }
}

/** Promises jobs to be run by this very process, as soon as their transaction has committed. */
export type Promises = Pick<Outbox, 'append' | 'promise'>
