import { requestTimeout, singleBatch } from '../db/client.ts'
import type { Collections, JobDoc, QueueName } from '../db/collections.ts'
import type { Filter } from '../db/mongo.ts'
import { fromObjectId, toObjectId } from '../db/object-id.ts'
import type { Transactions, Tx } from '../db/transaction.ts'
import type { TimeId } from '../lib/ids.ts'
import type { Run } from './lease.ts'
import type { NewJob, Outbox } from './outbox.ts'
import type { Pause, Task } from './runner.ts'

/** A range of keys: above `after`, up to `upTo`. Without `upTo`, all keys above `after`. */
export interface KeyRange {
  readonly after: string
  readonly upTo?: string
}

/** Matches the keys of a range. */
export const inRange = ({ after, upTo }: { after: string; upTo?: string | undefined }) => ({
  $gt: after,
  ...(upTo === undefined ? {} : { $lte: upTo }),
})

/** The range of a range job, and the job that was split. */
interface RangeOf extends KeyRange {
  readonly of: TimeId
}

/** The checkpoint of a split job: its range jobs that have not ended. */
interface SplitCheckpoint {
  readonly ranges: readonly TimeId[]
  /** What the range jobs work on, apart from their keys. */
  readonly payload: NewJob['payload']
}

/**
 * How long a split job waits until it looks for its range jobs again, in milliseconds. The last one
 * wakes it earlier.
 */
const waitMs = 1_000
/** The same while all of them are parked. */
const parkedWaitMs = 30_000
/**
 * By how much deliveries go before other range jobs, in milliseconds: as if they had waited for
 * that long. So a post is not delivered after a rebuild, and posts never stop a rebuild.
 */
export const deliveryLeadMs = 20_000

/** The parts that {@link RangeJobs} works with. */
export interface RangeJobsParts {
  readonly jobs: Collections['outbox']
  readonly outbox: Outbox
  readonly transactions: Transactions
}

/** Whether a job was split, by its checkpoint. */
export const isSplit = (checkpoint: unknown): checkpoint is SplitCheckpoint =>
  typeof checkpoint === 'object' && checkpoint !== null && 'ranges' in checkpoint

/**
 * Splits a long job into range jobs, which all workers run. Each has its own lease, checkpoint and
 * tries. They have a queue of their own, from which a worker runs one job at a time. The split job
 * waits, and ends after all its range jobs. If it is cancelled, its range jobs end at their next
 * run.
 * @see law L4
 */
export class RangeJobs {
  constructor(private readonly parts: RangeJobsParts) {}

  /**
   * Splits a job. The range jobs, the checkpoint of the job and `write` are one transaction. Four
   * commands and `write`'s.
   * @param job kind and payload of the split job. Range jobs have the kind with `.range`, and a
   *   payload with the range.
   * @param leadMs by how much its range jobs go before others, in milliseconds.
   * @returns the pause of the split job.
   * @throws LeaseLost
   */
  async split(
    run: Run,
    { kind, payload }: Pick<NewJob, 'kind' | 'payload'>,
    ranges: readonly KeyRange[],
    { leadMs = 0, write }: { leadMs?: number; write?: (tx: Tx) => Promise<void> } = {},
  ): Promise<Pause> {
    const { jobs, outbox, transactions } = this.parts
    const of = run.job.id
    await transactions.run(async (tx) => {
      const made = ranges.map((range) =>
        outbox.prepare(tx, {
          kind: rangeKind(kind),
          payload: { ...payload, range: { of, ...range } satisfies RangeOf },
          queue: 'RANGE',
        }),
      )
      const ids = made.map(({ id }) => id)
      await run.save({ ranges: ids, payload } satisfies SplitCheckpoint, tx)
      await jobs.updateOne(
        splitJob(of, run.job),
        { $set: { queue: 'RANGE' } },
        { session: tx.session },
      )
      await outbox.insert(tx, made, -leadMs)
      await write?.(tx)
    })
    return { continuesInMs: waitMs, insertedJobs: true }
  }

  /**
   * Waits for the range jobs of a split job. None or one command, and one more if range jobs are
   * missing.
   * @returns undefined if the job is not split, or begins again because an operator dropped one of
   *   its range jobs.
   */
  async wait({ checkpoint, job }: Run): Promise<Pause | 'ended' | undefined> {
    if (!isSplit(checkpoint)) return undefined
    if (checkpoint.ranges.length === 0) return 'ended'
    const { jobs } = this.parts
    const own = { about: job.about, _id: { $in: checkpoint.ranges.map(toObjectId) } }
    const states = { ...singleBatch, projection: { state: 1 } }
    const left = await jobs.find(own, states).toArray()
    if (left.length < checkpoint.ranges.length) {
      // A range that ends leaves the checkpoint before its job is removed.
      const now = await jobs.findOne(splitJob(job.id, job), requestTimeout)
      const open = isSplit(now?.checkpoint) ? now.checkpoint.ranges : []
      if (open.length === 0) return 'ended'
      const there = new Set(left.map(({ _id }) => fromObjectId<TimeId>(_id)))
      if (open.some((id) => !there.has(id))) return undefined
    }
    const isRunning = left.some(({ state }) => state === 'READY')
    return { continuesInMs: isRunning ? waitMs : parkedWaitMs }
  }

  /**
   * Puts a split job back into a queue after its ranges have ended, so that its further work does
   * not hold the slot of range jobs. Two commands.
   * @returns the pause of the job.
   * @throws LeaseLost
   */
  async leave({ job, save }: Run, queue: QueueName): Promise<Pause> {
    await save(null)
    await this.parts.jobs.updateOne(splitJob(job.id, job), { $set: { queue } }, requestTimeout)
    return { continuesInMs: 0, insertedJobs: true }
  }

  /**
   * The task of range jobs. One command at its start, those of the work, and one at the end.
   * @param work does the work of one range, and goes on from its own checkpoint.
   */
  createTask(
    work: (payload: NewJob['payload'], run: Run, range: KeyRange) => ReturnType<Task>,
  ): Task {
    return async ({ range, ...payload }, run) => {
      const { of, ...keys } = range as RangeOf
      const own = { ...splitJob(of, run.job), 'checkpoint.ranges': run.job.id }
      // The split job was cancelled, or this range has ended and only its job is left.
      const isOpen = await this.parts.jobs.findOne(own, {
        ...requestTimeout,
        projection: { _id: 1 },
      })
      if (!isOpen) return undefined
      const left = await work(payload, run, keys)
      if (left) return left
      await this.parts.jobs.updateOne(own, withoutRange(run.job.id), requestTimeout)
      return undefined
    }
  }
}

/** The kind of the range jobs of a kind. */
export const rangeKind = <Kind extends string>(kind: Kind) => `${kind}.range` as const

/** Matches a split job. @param job the job itself, or one of its ranges. */
const splitJob = (of: TimeId, { about }: Run['job']): Filter<JobDoc> => ({
  about,
  _id: toObjectId(of),
})

/**
 * Ends a range. After the last one, the split job is due before all others, unless a worker runs it
 * or it is parked.
 */
const withoutRange = (id: TimeId) => {
  const others = { $filter: { input: '$checkpoint.ranges', cond: { $ne: ['$$this', id] } } }
  const isOver = { $eq: [{ $size: '$checkpoint.ranges' }, 0] }
  const isFree = { $eq: [{ $type: '$leased' }, 'missing'] }
  const isReady = { $eq: ['$state', 'READY'] }
  return [
    { $set: { 'checkpoint.ranges': others } },
    { $set: { runAt: { $cond: [{ $and: [isOver, isFree, isReady] }, new Date(0), '$runAt'] } } },
  ]
}

/** Number of keys that one command skips. */
const skipMax = 500_000

/** Finds the key that is `distance` keys above `key`. Undefined if there are fewer keys. */
type KeyAt = (key: string, distance: number) => Promise<string | undefined>

/**
 * Cuts the keys above `after` into ranges with about `size` keys each. One command for each range,
 * and one more for each 500,000 keys between two halves. Both halves are cut at the same time: 16
 * ranges wait for four answers, not for 15, and about twice as many keys are skipped as there are.
 * @param rangesMax the last range has all keys beyond the others.
 */
export async function cutRanges(
  after: string,
  { size, rangesMax }: { readonly size: number; readonly rangesMax: number },
  keyAt: KeyAt,
): Promise<KeyRange[]> {
  const cut = async (range: KeyRange, count: number): Promise<KeyRange[]> => {
    if (count <= 1) return [range]
    const half = Math.ceil(count / 2)
    let middle: string | undefined = range.after
    for (let left = half * size; left > 0 && middle !== undefined; left -= skipMax) {
      middle = await keyAt(middle, Math.min(left, skipMax))
    }
    // Keys may be removed between two commands.
    const isBeyond = range.upTo !== undefined && middle !== undefined && middle >= range.upTo
    if (middle === undefined || isBeyond) return cut(range, half)
    const halves = [
      cut({ after: range.after, upTo: middle }, half),
      cut({ ...range, after: middle }, count - half),
    ]
    return (await Promise.all(halves)).flat()
  }
  return cut({ after }, rangesMax)
}

/**
 * Estimates the number of keys from below: more than half of it, and at most 500,000 below it. With
 * fewer than `step` keys it is 0. One command, then one for each doubling, and for each 500,000.
 */
export async function estimateKeys(step: number, keyAt: KeyAt): Promise<number> {
  let [key, estimate]: [string | undefined, number] = ['', 0]
  for (let distance = step; ; distance = Math.min(estimate, skipMax)) {
    key = await keyAt(key, distance)
    if (key === undefined) return estimate
    estimate += distance
  }
}
