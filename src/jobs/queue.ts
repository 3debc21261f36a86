import { isDeepStrictEqual } from 'node:util'
import { requestTimeout } from '../db/client.ts'
import type { Collections } from '../db/collections.ts'
import { eachKey, GroupCommit, type GroupCommitBounds } from '../db/group-commit.ts'
import { fromObjectId, toObjectId } from '../db/object-id.ts'
import type { Tx } from '../db/transaction.ts'
import { backoffMs } from '../lib/backoff.ts'
import { groupBy } from '../lib/batch.ts'
import { type TimeId, timeOf } from '../lib/ids.ts'
import { DueJobs } from './due-jobs.ts'
import { inMs, type Job } from './job.ts'

export type { Job }

/** The lease on a job ran out or was ended. The call that threw it changed nothing. */
export class LeaseLost extends Error {
  override readonly name = 'LeaseLost'

  constructor(readonly job: TimeId) {
    super(`the lease on job ${job} is over`)
  }
}

export interface JobQueueOptions {
  /** Tries without progress after which a job is parked. Default: 10. */
  readonly attemptsMax?: number | undefined
  /** Spreads the back-off of failed jobs, 0 to 1. Default: at random. */
  readonly random?: () => number
  /** The database's clock, in milliseconds since 1970. Default: this machine's. */
  readonly now?: () => number
}

const backoff = { baseMs: 1_000, capMs: 300_000 }
const errorCharactersMax = 2_000
const completionBounds: GroupCommitBounds = {
  name: 'job_completions',
  batchMax: 256,
  waitingMax: 20_000,
  waitMsMax: 30_000,
  lingerMs: 0,
}

/**
 * The jobs of the outbox. One worker at a time holds the lease on a job. Each method sends one
 * command unless stated. All timestamps come from the MongoDB server. A method that takes a
 * {@link Job} changes the job only while that lease holds: until the lease is ended or the job is
 * claimed again. Writes wait for a majority, so a failover never gives two workers the same fencing
 * token.
 * @see law L4
 */
export class JobQueue {
  private readonly completions: GroupCommit<Job, undefined>

  /** Leases due jobs, see {@link DueJobs.claim}. */
  readonly claim: DueJobs['claim']
  /** Tries without progress after which a job is parked. */
  readonly attemptsMax: number
  private readonly random: () => number
  private readonly now: () => number

  constructor(
    private readonly outbox: Collections['outbox'],
    { attemptsMax = 10, random = Math.random, now = Date.now }: JobQueueOptions = {},
  ) {
    this.attemptsMax = attemptsMax
    this.random = random
    this.now = now
    const due = new DueJobs(outbox, random)
    this.claim = due.claim.bind(due)
    const remove = (_: string, jobs: readonly Job[]) => this.remove(jobs)
    this.completions = new GroupCommit(eachKey(remove), completionBounds)
  }

  /**
   * Saves the progress of a job and extends its lease. A changed checkpoint sets the number of
   * tries to 1.
   * @param checkpoint plain JSON.
   * @param tx the transaction of the save. Default: none.
   * @returns the updated job.
   * @throws LeaseLost
   */
  async save(job: Job, checkpoint: unknown, tx?: Tx): Promise<Job> {
    const attempts = isDeepStrictEqual(checkpoint, job.checkpoint) ? job.attempts : 1
    const kept = { $literal: checkpoint ?? null }
    await this.update(job, { checkpoint: kept, attempts, runAt: inMs(job.leaseMs) }, tx)
    return { ...job, checkpoint, attempts }
  }

  /** Extends the lease. @throws LeaseLost */
  async extend(job: Job): Promise<void> {
    await this.update(job, { runAt: inMs(job.leaseMs) })
  }

  /**
   * Removes a finished job. Jobs that finish at the same time share one command, and one more if a
   * lease was lost.
   * @throws LeaseLost
   */
  async complete(job: Job): Promise<void> {
    await this.completions.submit('', job)
  }

  /**
   * Ends the lease after a failed try. The job is due again after a back-off, or parked after the
   * last try.
   * @returns whether the job was parked.
   * @throws LeaseLost
   */
  async fail(job: Job, error: unknown): Promise<boolean> {
    const parked = job.attempts >= this.attemptsMax
    await this.update(job, {
      state: parked ? 'PARKED' : 'READY',
      runAt: parked ? '$$NOW' : inMs(backoffMs(job.attempts, backoff, this.random)),
      fence: job.fence + 1,
      leased: '$$REMOVE',
      error: { $literal: String(error).slice(0, errorCharactersMax) },
    })
    return parked
  }

  /**
   * Ends the lease. The job is due after `delayMs` milliseconds, and goes on from its checkpoint.
   * The try does not count.
   * @param delayMs with 0, it runs after the jobs that are due already. Below 0, before those that
   *   became due since then.
   * @throws LeaseLost
   */
  async release(job: Job, delayMs = 0): Promise<void> {
    await this.update(job, {
      runAt: inMs(delayMs),
      fence: job.fence + 1,
      leased: '$$REMOVE',
      attempts: job.attempts - 1,
    })
  }

  /** The time since the write that made the job, in milliseconds. No command. */
  ageMs({ id }: Job): number {
    return Math.max(0, this.now() - timeOf(id).getTime())
  }

  /**
   * Makes a parked job due at once. It goes on from its checkpoint and has all its tries again. As
   * all methods that an operator asks for, it asks all shards.
   * @returns false if the job is not parked.
   */
  async retry(id: TimeId): Promise<boolean> {
    const { matchedCount } = await this.outbox.updateOne(
      { _id: toObjectId(id), state: 'PARKED' },
      dueAgain,
      requestTimeout,
    )
    return matchedCount === 1
  }

  /** Retries every parked job. @returns the number of jobs. */
  async retryAll(): Promise<number> {
    return (await this.outbox.updateMany({ state: 'PARKED' }, dueAgain)).matchedCount
  }

  /** Deletes a parked job. @returns false if the job is not parked. */
  async drop(id: TimeId): Promise<boolean> {
    const { deletedCount } = await this.outbox.deleteOne(
      { _id: toObjectId(id), state: 'PARKED' },
      requestTimeout,
    )
    return deletedCount === 1
  }

  /** Deletes every parked job. @returns the number of jobs. */
  async dropAll(): Promise<number> {
    return (await this.outbox.deleteMany({ state: 'PARKED' })).deletedCount
  }

  private async remove(jobs: readonly Job[]): Promise<(undefined | Error)[]> {
    const keysOf = (some: readonly Job[]) => ({
      about: { $in: [...new Set(some.map(({ about }) => about))] },
      _id: { $in: some.map(({ id }) => toObjectId(id)) },
    })
    // Most have the same fence. A statement for all of these takes MongoDB half the time.
    const deletions = [...groupBy(jobs, ({ fence }) => fence)].map(([fence, some]) => ({
      deleteMany: { filter: { ...keysOf(some), state: 'READY' as const, fence } },
    }))
    const { deletedCount } = await this.outbox.bulkWrite(deletions, {
      ordered: false,
      ...requestTimeout,
    })
    if (deletedCount === jobs.length) return jobs.map(() => undefined)
    const ids = keysOf(jobs)
    const left = await this.outbox
      .find(ids, { ...requestTimeout, projection: { _id: 1 } })
      .toArray()
    const others = new Set(left.map(({ _id }) => fromObjectId<TimeId>(_id)))
    // Of several removed jobs it is not known who removed which. All of them are done.
    const isLost = ({ id }: Job) => jobs.length === 1 || others.has(id)
    return jobs.map((job) => (isLost(job) ? new LeaseLost(job.id) : undefined))
  }

  private async update(job: Job, set: Readonly<Record<string, unknown>>, tx?: Tx): Promise<void> {
    const { matchedCount } = await this.outbox.updateOne(leaseOf(job), [{ $set: set }], {
      ...requestTimeout,
      ...tx,
    })
    if (matchedCount === 0) throw new LeaseLost(job.id)
  }
}

const dueAgain = [{ $set: { state: 'READY', runAt: '$$NOW', attempts: 0 } }]

const leaseOf = ({ id, about, fence }: Job) => ({
  about,
  _id: toObjectId(id),
  state: 'READY' as const,
  fence,
})
