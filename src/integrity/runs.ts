import { randomUUID } from 'node:crypto'
import type { Collections, ReconciliationDoc } from '../db/collections.ts'
import { wellFormed } from '../db/shapes.ts'
import { DomainError } from '../errors.ts'
import { inMs } from '../jobs/job.ts'

/** The lease of a process on its run, in milliseconds. Every step extends it. */
const leaseMs = 60_000

/** The result of a run so far, of all its processes together. Stored and printed under these names. */
export interface Tally {
  /** Checked users and posts. */
  readonly users: number
  readonly posts: number
  /** Counted edges, posts and entries. */
  readonly documents: number
  /** Users and posts whose counters had drifted, and how many of them were repaired. */
  readonly drifted: number
  readonly repaired: number
  /** Pairs of users whose edge or history was repaired. */
  readonly edges: number
  /** Accounts without counters or without a job, and counters, edges and posts without an account. */
  readonly accounts: number
  /** Other violations that were repaired: blocks, lists of posts, by-user entries, timelines, jobs. */
  readonly others: number
  /** Unrepairable findings. */
  readonly reported: number
  /** Users, posts and pairs that still violate an invariant. */
  readonly remaining: number
  /** Scans that were repeated because the server dropped their snapshot. */
  readonly renewed: number
}

export const emptyTally: Tally = {
  ...{
    users: 0,
    posts: 0,
    documents: 0,
    drifted: 0,
    repaired: 0,
    edges: 0,
    accounts: 0,
    others: 0,
  },
  ...{ reported: 0, remaining: 0, renewed: 0 },
}

/** The progress of a run. */
export interface Position {
  readonly part: ReconciliationDoc['part']
  /** The last edge, handle or post of the part that is done, in the order of ids. */
  readonly after: string
  readonly tally: Tally
}

/** A run that this process leases. */
export interface HeldRun extends Position {
  readonly id: string
  readonly fence: number
}

/** The runs of the database. One process leases a run at a time. Another process resumes an interrupted run. */
export class Runs {
  constructor(private readonly runs: Collections['reconciliations']) {}

  /**
   * Takes over an interrupted run with the same options, or begins a new run. At most two commands.
   * @param asked a hash of the options.
   * @param now milliseconds since 1970.
   */
  async open(asked: string, now: number): Promise<HeldRun> {
    const left = await this.runs.findOneAndUpdate(
      {
        ...{ asked, done: { $exists: false }, $expr: { $lt: ['$leasedUntil', '$$NOW'] } },
        ...wellFormed('reconciliations'),
      },
      [{ $set: { leasedUntil: inMs(leaseMs), fence: { $add: ['$fence', 1] } } }],
      { sort: { startedAt: -1 }, returnDocument: 'after' },
    )
    if (left) return toHeldRun(left)
    const fresh = {
      ...{ _id: randomUUID(), asked, fence: 1, part: 'edges' as const, after: '' },
      startedAt: new Date(now),
    }
    const begun = await this.runs.findOneAndUpdate(
      { _id: fresh._id },
      [{ $set: { ...fresh, tally: { ...emptyTally }, leasedUntil: inMs(leaseMs) } }],
      { upsert: true, returnDocument: 'after' },
    )
    if (!begun) throw new Error('an upsert returned nothing')
    return toHeldRun(begun)
  }

  /**
   * Saves the progress of a run and extends its lease. One command.
   * @throws {DomainError} CONFLICT if another process has taken over the run.
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

  /** Ends the lease, so that another process may take over the run. One command. */
  async release({ id, fence }: HeldRun): Promise<void> {
    await this.runs.updateOne({ _id: id, fence }, [{ $set: { leasedUntil: '$$NOW' } }])
  }
}

const toHeldRun = ({ _id, fence, part, after, tally }: ReconciliationDoc): HeldRun => ({
  ...{ id: _id, fence, part, after },
  tally: { ...emptyTally, ...tally },
})
