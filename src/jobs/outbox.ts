import { randomUUID } from 'node:crypto'
import { requestTimeout } from '../db/client.ts'
import type { Collections, JobDoc, QueueName } from '../db/collections.ts'
import type { Filter } from '../db/mongo.ts'
import { toObjectId } from '../db/object-id.ts'
import type { Tx } from '../db/transaction.ts'
import type { EventName, Events, Reactions } from '../events.ts'
import type { IdMint, TimeId } from '../lib/ids.ts'
import { currentTraceparent, type Traceparent } from '../tracing/spans.ts'
import type { InlineRunner } from './inline.ts'
import { inMs, type Job } from './job.ts'

/** A job before it is stored. */
export interface NewJob {
  readonly kind: string
  /** What the task needs: ids, not documents. Plain JSON. */
  readonly payload: JobDoc['payload']
  /** Default: QUICK. BULK for jobs that may take long. */
  readonly queue?: QueueName
}

/** Prepares jobs for the caller's transaction, which inserts them with {@link Outbox.insert}. */
export type JobWriter = Pick<Outbox, 'prepare'>

/**
 * Whether the posts and follows of a transaction need jobs. Called in each try, once the
 * transaction has seen the accounts.
 * @returns false only if no strategy that stores timelines is registered at the call, and the
 *   back-fill of a later registration reads the posts and follows.
 */
export type NeedsJobs = () => Promise<boolean>

/**
 * The jobs that follow a write, stored in the transaction of that write.
 * @see law L4
 */
export class Outbox {
  /**
   * @param inline runs jobs in this process, see {@link runInline}; without it, workers run all
   *   jobs.
   * @param reactions of all features. Default: none.
   */
  constructor(
    private readonly outbox: Collections['outbox'],
    private readonly mint: IdMint,
    private readonly inline?: InlineRunner,
    private readonly reactions: readonly Reactions[] = [],
  ) {}

  /**
   * The jobs of all features that react to an event. Each fails and retries by itself. @param queue
   * Default: QUICK.
   */
  reactionsTo<E extends EventName>(
    event: E,
    payload: Events[E],
    queue: QueueName = 'QUICK',
  ): NewJob[] {
    const kinds = this.reactions.flatMap(({ [event]: kind }) => kind ?? [])
    return kinds.map((kind) => ({ kind, payload, queue }))
  }

  /**
   * Inserts jobs. They exist exactly when the caller's transaction commits. One command, none
   * without jobs.
   * @param delayMs when the jobs are due, in milliseconds from now.
   */
  async enqueue(tx: Tx, jobs: readonly NewJob[], delayMs = 0): Promise<void> {
    const traceparent = currentTraceparent()
    const prepared = jobs.map((job) => this.newJob(job, { traceparent }))
    await this.insert(tx, prepared, delayMs)
  }

  /**
   * Makes a job for the caller's transaction, without inserting it, and without a trace. No
   * command.
   */
  prepare(_: Tx, job: NewJob): Job {
    return this.newJob(job, {})
  }

  /**
   * A writer of jobs that continue the current trace, also if another request's transaction
   * prepares them.
   */
  tracedWriter(): JobWriter {
    const traceparent = currentTraceparent()
    return { prepare: (_, job) => this.newJob(job, { traceparent }) }
  }

  /** Inserts prepared jobs. One command, none without jobs. */
  async insert({ session }: Tx, jobs: readonly Job[], delayMs = 0): Promise<void> {
    if (jobs.length === 0) return
    // Upserts, because only an update can take `runAt` from the server's clock.
    const upserts = jobs.map(({ id, about, leaseMs, traceparent, ...job }) => {
      const { kind, payload, queue, attempts, fence } = job
      const leased = leaseMs > 0 ? { leased: randomUUID() } : {}
      const traced = traceparent === undefined ? {} : { traceparent }
      const state = 'READY' as const
      const fields = { kind, payload, state, queue, fence, attempts, ...leased, ...traced }
      const fixed = { $literal: fields }
      const update = [
        { $replaceWith: { $mergeObjects: ['$$ROOT', fixed, { runAt: inMs(leaseMs + delayMs) }] } },
      ]
      return { updateOne: { filter: { about, _id: toObjectId(id) }, update, upsert: true } }
    })
    await this.outbox.bulkWrite(upserts, { session })
  }

  /**
   * Removes the matching jobs in the caller's transaction. A worker that runs one of them loses its
   * lease. One command.
   */
  async cancel(tx: Tx, jobs: Filter<JobDoc>): Promise<void> {
    await this.outbox.deleteMany(jobs, { session: tx.session })
  }

  /**
   * Makes the matching jobs due at once, except those that a worker has claimed before. One
   * command.
   */
  async hasten(jobs: Filter<JobDoc>): Promise<void> {
    const waiting = { ...jobs, state: 'READY' as const, fence: 0 }
    await this.outbox.updateMany(waiting, [{ $set: { runAt: '$$NOW' } }], requestTimeout)
  }

  /**
   * Runs a write, then the jobs that it prepared, in this process and while there are free slots.
   * Workers run the rest. Waits for the jobs that it runs. Their failures go to workers.
   * @param write runs one transaction, which may be tried several times, and prepares jobs in its
   *   body.
   * @throws what `write` throws.
   */
  async runInline<T>(write: (jobs: JobWriter) => Promise<T>): Promise<T> {
    const own: Job[] = []
    const traceparent = currentTraceparent()
    let [slots, leased] = [0, 0]
    let lastTry: Tx | undefined
    const prepare: JobWriter['prepare'] = (tx, newJob) => {
      // Each try of a transaction has a Tx of its own. The jobs of an earlier try do not exist.
      if (tx !== lastTry) [own.length, leased] = [0, 0]
      lastTry = tx
      if (leased === slots && this.inline?.reserve()) slots++
      const leaseMs = leased < slots ? this.inline?.leaseMs : undefined
      if (leaseMs !== undefined) leased++
      const job = this.newJob(newJob, { leaseMs, traceparent })
      own.push(job)
      return job
    }
    try {
      const result = await write({ prepare })
      await Promise.all(own.map((job) => this.inline?.run(job)))
      return result
    } finally {
      this.inline?.release(slots)
    }
  }

  private newJob({ kind, payload, queue = 'QUICK' }: NewJob, made: Made): Job {
    const { leaseMs = 0, traceparent } = made
    const attempts = leaseMs > 0 ? 1 : 0
    const id = this.mint.next<TimeId>()
    const begun = { checkpoint: undefined, attempts, fence: attempts }
    return { id, about: aboutOf(payload), kind, payload, queue, ...begun, leaseMs, traceparent }
  }
}

/** How a job is made. */
interface Made {
  /** If above 0, this process holds the job's lease from the start. */
  readonly leaseMs?: number | undefined
  readonly traceparent?: Traceparent | undefined
}

/**
 * Whose documents the transaction that inserts a job writes. The author of a post comes first: the
 * likes of a post are on its shard. A follow writes more documents of the follower than of the
 * followee.
 */
const aboutOf = ({ author, follower, user }: JobDoc['payload']): string =>
  String(author ?? follower ?? user ?? '')

/** The shard keys of jobs about these users, or about no user. */
export const jobsAbout = (...users: readonly string[]) => ({
  about: { $in: users.length > 0 ? users : [''] },
})
