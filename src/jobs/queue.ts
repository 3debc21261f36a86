import { randomUUID } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { atOnce, bounded } from '../db/client.ts'
import { type Collections, type JobDoc, type JobLane, jobLanes } from '../db/collections.ts'
import { GroupCommit } from '../db/group-commit.ts'
import { fromObjectId, toObjectId } from '../db/object-id.ts'
import { backoffMs } from '../lib/backoff.ts'
import type { TimeId } from '../lib/ids.ts'

/** A job and the lease on it. Once a call has thrown {@link LeaseLost}, it is somebody else's. */
export interface Job {
  readonly id: TimeId
  readonly kind: string
  readonly payload: JobDoc['payload']
  readonly lane: JobLane
  /** What the last `save` left; undefined before the first. */
  readonly checkpoint: unknown
  /** This try counted in: 1 is the first since the checkpoint last moved. */
  readonly attempts: number
  /** Names this lease: no other lease on the job has the same. */
  readonly fence: number
  readonly leaseMs: number
}

/** A job that nobody tries any more, and why. */
export interface ParkedJob extends Omit<Job, 'fence' | 'leaseMs'> {
  readonly error: string
  readonly parkedAt: Date
}

/** A job went on without this worker: the lease ran out, or was ended. Nothing was changed. */
export class LeaseLost extends Error {
  override readonly name = 'LeaseLost'

  constructor(readonly job: TimeId) {
    super(`the lease on job ${job} is over`)
  }
}

const backoff = { baseMs: 1_000, capMs: 300_000 }
const errorCharactersMax = 2_000
const together = { batchMax: 256, waitingMax: 20_000, waitMsMax: 30_000, lingerMs: 0 }
const parkedMax = 1_000

/**
 * The jobs of the outbox, each held by one worker at a time. A method is one command but where it says more, every
 * instant is the server's. A method that takes a {@link Job} changes it only while its lease
 * stands: until it is ended, or another claim has followed. Since writes wait for a majority, no
 * election gives the same fence to two workers.
 * @see law L4
 */
export class JobQueue {
  private readonly ends: GroupCommit<Job, undefined>

  /** @param attemptsMax how often a job is tried, without progress, before it is parked. */
  constructor(
    private readonly outbox: Collections['outbox'],
    readonly attemptsMax = 10,
    private readonly random: () => number = Math.random,
  ) {
    this.ends = new GroupCommit((_, jobs) => this.remove(jobs), together)
  }

  /**
   * Leases the job that has been due the longest; a lease that ran out makes its job due.
   * Examines one index key a lane, however many jobs are due later. A caller that dies uses up an attempt.
   * @param lane the lane to take it from; without it, whichever has the oldest.
   * @returns undefined when nothing is due.
   */
  async claim(leaseMs: number, lane?: JobLane): Promise<Job | undefined> {
    const claimed = await this.outbox.findOneAndUpdate(
      { state: 'READY', lane: lane ?? inAnyLane, $expr: { $lte: ['$runAt', '$$NOW'] } },
      leaseFor(leaseMs, randomUUID()),
      { sort: { runAt: 1 }, returnDocument: 'after', ...bounded },
    )
    return claimed ? { ...toJob(claimed), fence: claimed.fence, leaseMs } : undefined
  }

  /**
   * Leases, beside one that was claimed, those of its kind among the next `limit` that are due in its lane. Two
   * commands, three where others claim at the same time; looks at `limit` jobs, however many are due.
   */
  async claimLike({ kind, lane, leaseMs }: Job, limit: number): Promise<Job[]> {
    const due = { state: 'READY', $expr: { $lte: ['$runAt', '$$NOW'] } } as const
    const next = await this.outbox
      .find({ ...due, lane }, { ...atOnce, hint: { state: 1, lane: 1, runAt: 1 } })
      .sort({ runAt: 1 })
      .limit(limit)
      .toArray()
    const found = next.filter((job) => job.kind === kind)
    if (found.length === 0) return []
    const leased = randomUUID()
    const update = leaseFor(leaseMs, leased)
    const { modifiedCount } = await this.outbox.bulkWrite(
      found.map(({ _id, fence }) => ({ updateOne: { filter: { _id, fence, ...due }, update } })),
      { ordered: false, ...bounded },
    )
    const all = { _id: { $in: found.map(({ _id }) => _id) }, leased }
    const ours = modifiedCount === found.length ? found : await this.outbox.find(all).toArray()
    const seen = new Map(found.map((doc) => [doc._id.toHexString(), doc]))
    return ours.flatMap(({ _id }) => {
      const doc = seen.get(_id.toHexString())
      if (!doc) return []
      const [fence, attempts] = [doc.fence + 1, doc.attempts + 1]
      return { ...toJob(doc), fence, attempts, leaseMs }
    })
  }

  /**
   * Keeps how far the job has come and extends the lease. Progress starts the attempts anew.
   * @param checkpoint plain JSON.
   * @returns the job as it is now.
   * @throws LeaseLost
   */
  async save(job: Job, checkpoint: unknown): Promise<Job> {
    const attempts = isDeepStrictEqual(checkpoint, job.checkpoint) ? job.attempts : 1
    const kept = { $literal: checkpoint ?? null }
    await this.update(job, { checkpoint: kept, attempts, runAt: inMs(job.leaseMs) })
    return { ...job, checkpoint, attempts }
  }

  /** Extends the lease. @throws LeaseLost */
  async extend(job: Job): Promise<void> {
    await this.update(job, { runAt: inMs(job.leaseMs) })
  }

  /**
   * Removes a job that is done; those that are done at the same time share a command, and two where one lease is over.
   * @throws LeaseLost
   */
  async complete(job: Job): Promise<void> {
    await this.ends.submit('', job)
  }

  /**
   * Ends the lease of a try that failed: due again after a back-off, parked after the last attempt.
   * @returns whether it was parked.
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
   * Hands back a job, due at once from its checkpoint, behind what is due already; not counted as
   * a try.
   * @throws LeaseLost
   */
  async release(job: Job): Promise<void> {
    await this.update(job, {
      runAt: '$$NOW',
      fence: job.fence + 1,
      leased: '$$REMOVE',
      attempts: job.attempts - 1,
    })
  }

  /** The parked jobs, latest first, at most `limit` and never more than 1,000. */
  async parked(limit: number): Promise<ParkedJob[]> {
    const found = await this.outbox
      .find({ state: 'PARKED', lane: inAnyLane }, bounded)
      .sort({ runAt: -1 })
      .limit(Math.max(1, Math.min(limit, parkedMax)))
      .toArray()
    return found.map((doc) => ({ ...toJob(doc), error: doc.error ?? '', parkedAt: doc.runAt }))
  }

  /**
   * Makes a parked job due at once, from its checkpoint, with all its attempts before it.
   * @returns false when it is not parked.
   */
  async retry(id: TimeId): Promise<boolean> {
    const { matchedCount } = await this.outbox.updateOne(
      { _id: toObjectId(id), state: 'PARKED' },
      dueAnew,
      bounded,
    )
    return matchedCount === 1
  }

  /** {@link retry} of every parked job. @returns how many there were. */
  async retryAll(): Promise<number> {
    return (await this.outbox.updateMany({ state: 'PARKED' }, dueAnew)).matchedCount
  }

  /** Removes a parked job for good. @returns false when it is not parked. */
  async drop(id: TimeId): Promise<boolean> {
    const { deletedCount } = await this.outbox.deleteOne(
      { _id: toObjectId(id), state: 'PARKED' },
      bounded,
    )
    return deletedCount === 1
  }

  /** {@link drop} of every parked job. @returns how many there were. */
  async dropAll(): Promise<number> {
    return (await this.outbox.deleteMany({ state: 'PARKED' })).deletedCount
  }

  private async remove(jobs: readonly Job[]): Promise<(undefined | Error)[]> {
    const deletions = jobs.map((job) => ({ deleteOne: { filter: leaseOf(job) } }))
    const { deletedCount } = await this.outbox.bulkWrite(deletions, { ordered: false, ...bounded })
    if (deletedCount === jobs.length) return jobs.map(() => undefined)
    const ids = { _id: { $in: jobs.map(({ id }) => toObjectId(id)) } }
    const left = await this.outbox.find(ids, { ...bounded, projection: { _id: 1 } }).toArray()
    const others = new Set(left.map(({ _id }) => fromObjectId<TimeId>(_id)))
    // Of several that are gone it is not known who removed which: they are done.
    const isLost = ({ id }: Job) => jobs.length === 1 || others.has(id)
    return jobs.map((job) => (isLost(job) ? new LeaseLost(job.id) : undefined))
  }

  private async update(job: Job, set: Readonly<Record<string, unknown>>): Promise<void> {
    const { matchedCount } = await this.outbox.updateOne(leaseOf(job), [{ $set: set }], bounded)
    if (matchedCount === 0) throw new LeaseLost(job.id)
  }
}

const dueAnew = [{ $set: { state: 'READY', runAt: '$$NOW', attempts: 0 } }]

// Names the lanes, so that the index can merge them by age.
const inAnyLane = { $in: jobLanes }

const leaseOf = ({ id, fence }: Job) => ({ _id: toObjectId(id), state: 'READY' as const, fence })

/** An instant so many milliseconds from now, by the server's clock. */
export const inMs = (ms: number) => ({ $add: ['$$NOW', Math.ceil(ms)] })

const leaseFor = (leaseMs: number, leased: string) => [
  {
    $set: {
      runAt: inMs(leaseMs),
      fence: plusOne('$fence'),
      leased,
      attempts: plusOne('$attempts'),
    },
  },
]

const plusOne = (field: string) => ({ $add: [field, 1] })

const toJob = ({ _id, kind, payload, lane, checkpoint, attempts }: JobDoc) => ({
  id: fromObjectId<TimeId>(_id),
  kind,
  payload,
  lane,
  checkpoint,
  attempts,
})
