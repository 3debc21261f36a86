import { randomUUID } from 'node:crypto'
import type { Collections, ReconciliationDoc } from '../db/collections.ts'
import { DomainError } from '../errors.ts'
import { inMs } from '../jobs/queue.ts'

/** How long a run stays with a process that was killed, in milliseconds. Extended with every step. */
const leaseMs = 60_000

/** The result of a run so far, of all its processes together. */
export interface Tally {
  /** Users and posts that were checked. */
  readonly users: number
  readonly posts: number
  /** Edges, posts and entries that were counted. */
  readonly documents: number
  /** Users and posts whose counters were off, and how many of them were repaired. */
  readonly off: number
  readonly repaired: number
  /** Pairs whose edge or history was repaired. */
  readonly mended: number
  /** Accounts without counters or without a job, and counters, edges and posts without an account. */
  readonly accounts: number
  /** Other violations that were repaired: blocks, lists of posts, logs, timelines, jobs. */
  readonly others: number
  /** Findings that cannot be repaired. */
  readonly reported: number
  /** Users, posts and pairs that are wrong still. */
  readonly remaining: number
  /** Scans that were repeated, since the server dropped their snapshot. */
  readonly renewed: number
}

export const nothing: Tally = {
  ...{ users: 0, posts: 0, documents: 0, off: 0, repaired: 0, mended: 0, accounts: 0, others: 0 },
  ...{ reported: 0, remaining: 0, renewed: 0 },
}

/** How far a run has come. */
export interface Position {
  readonly part: ReconciliationDoc['part']
  /** What is done of the part: up to this handle or post, in order. */
  readonly after: string
  readonly tally: Tally
}

/** A run that this process holds. */
export interface HeldRun extends Position {
  readonly id: string
  readonly fence: number
}

/** The runs of the database: each is one process's at a time, and what was cut off goes on. */
export class Runs {
  constructor(private readonly runs: Collections['reconciliations']) {}

  /**
   * Takes over the run of the same question that was cut off, or begins one. Two commands at most.
   * @param asked tells one question from another.
   * @param now milliseconds since 1970.
   */
  async open(asked: string, now: number): Promise<HeldRun> {
    const left = await this.runs.findOneAndUpdate(
      { asked, done: { $exists: false }, $expr: { $lt: ['$leasedUntil', '$$NOW'] } },
      [{ $set: { leasedUntil: inMs(leaseMs), fence: { $add: ['$fence', 1] } } }],
      { sort: { startedAt: -1 }, returnDocument: 'after' },
    )
    if (left) return held(left)
    const fresh = {
      ...{ _id: randomUUID(), asked, fence: 1, part: 'edges' as const, after: '' },
      startedAt: new Date(now),
    }
    const begun = await this.runs.findOneAndUpdate(
      { _id: fresh._id },
      [{ $set: { ...fresh, tally: { ...nothing }, leasedUntil: inMs(leaseMs) } }],
      { upsert: true, returnDocument: 'after' },
    )
    if (!begun) throw new Error('an upsert returned nothing')
    return held(begun)
  }

  /**
   * Keeps how far it has come. One command.
   * @throws {DomainError} CONFLICT when another process has taken it over.
   */
  async save({ id, fence }: HeldRun, { part, after, tally }: Position, done: boolean) {
    const end = done ? { done: true } : {}
    const { matchedCount } = await this.runs.updateOne({ _id: id, fence }, [
      {
        $set: {
          ...{ part, after: { $literal: after }, tally: { ...tally } },
          ...{ ...end, leasedUntil: inMs(leaseMs) },
        },
      },
    ])
    if (matchedCount === 1) return
    throw new DomainError(
      'CONFLICT',
      'Another process has taken over this run. Wait until it finishes.',
    )
  }

  /** Leaves a run to the next process that asks for it. One command. */
  async release({ id, fence }: HeldRun): Promise<void> {
    await this.runs.updateOne({ _id: id, fence }, [{ $set: { leasedUntil: '$$NOW' } }])
  }
}

const held = ({ _id, fence, part, after, tally }: ReconciliationDoc): HeldRun => ({
  ...{ id: _id, fence, part, after },
  tally: { ...nothing, ...tally },
})
