import { randomUUID } from 'node:crypto'
import type { Collections, JobDoc, JobLane } from '../db/collections.ts'
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
    { lane = 'QUICK' }: JobOptions = {},
  ): Promise<void> {
    await this.store(tx, this.newJob(kind, payload, lane))
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
    const append: Promises['append'] = async (tx, kind, payload, { lane = 'QUICK' } = {}) => {
      // Each try of a transaction has a Tx of its own; what an earlier one promised is void.
      if (tx !== lastTry) jobs.length = 0
      lastTry = tx
      if (jobs.length === slots && this.inline?.reserve()) slots++
      const leaseMs = jobs.length < slots ? this.inline?.leaseMs : undefined
      const job = this.newJob(kind, payload, lane, leaseMs)
      if (leaseMs !== undefined) jobs.push(job)
      await this.store(tx, job)
    }
    try {
      const result = await write({ append })
      await Promise.all(jobs.map((job) => this.inline?.run(job)))
      return result
    } finally {
      this.inline?.release(slots)
    }
  }

  /** @param leaseMs with it, the job is born as this process's own. */
  private newJob(kind: string, payload: JobDoc['payload'], lane: JobLane, leaseMs = 0): Job {
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

  /** An upsert, because only an update can take `runAt` from the server's clock. */
  private async store(tx: Tx, { id, kind, payload, lane, attempts, fence, leaseMs }: Job) {
    const leased = leaseMs > 0 ? { leased: randomUUID() } : {}
    const fixed = { $literal: { kind, payload, state: 'READY', lane, fence, attempts, ...leased } }
    await this.outbox.updateOne(
      { _id: toObjectId(id) },
      [{ $replaceWith: { $mergeObjects: ['$$ROOT', fixed, { runAt: inMs(leaseMs) }] } }],
      { upsert: true, session: tx.session },
    )
  }
}

/** Promises jobs to be run by this very process, as soon as their transaction has committed. */
export type Promises = Pick<Outbox, 'append'>
