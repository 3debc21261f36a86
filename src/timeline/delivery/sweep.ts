import { singleBatch } from '../../db/client.ts'
import type { Collections } from '../../db/collections.ts'
import type { Collection, Document } from '../../db/mongo.ts'
import type { Transactions } from '../../db/transaction.ts'
import type { Run } from '../../jobs/lease.ts'
import type { KeyRange, RangeJobs } from '../../jobs/ranges.ts'
import { rangeSliceMs, timeSlice } from '../../jobs/time-slice.ts'
import { type PostId, timeIdAt, type UserId } from '../../lib/ids.ts'
import {
  maintainedIn,
  type Registration,
  type Registry,
  toRegistered,
} from '../registry/registry.ts'
import { floorOf } from '../strategies/floor.ts'
import { descriptors } from '../strategies/list.ts'
import { positionOf, type WalkCheckpoint, type Walked } from './follower-walk.ts'
import type { ReaderWalk } from './reader-walk.ts'

/**
 * Number of readers between two checkpoints, whose old documents one command finds: at first, and
 * at most.
 */
const [readersMin, readersMax] = [25, 50]
/** Number of documents of a reader that one transaction removes. */
const removalMax = 100
/** How long a step may take before the next one has half as many readers, in milliseconds. */
const stepMsMax = 500
/** The kind of the job. Persisted. */
const kind = 'timelines.sweep'

/** The parts that {@link Sweep} works with. */
export interface SweepParts {
  readonly collections: Collections
  readonly registry: Registry
  readonly ranges: RangeJobs
  readonly readers: ReaderWalk
  readonly transactions: Transactions
  /**
   * How long entries are kept after the creation of their posts, in milliseconds. Infinity: for
   * ever.
   */
  readonly keptMs: number
  /** Milliseconds since 1970. */
  readonly now: () => number
}

/**
 * Removes old entries from stored timelines, once a day. First it raises the floors of the
 * registrations, and pages read the floors that they saw again after the entries. So no page
 * depends on an entry that is removed, whatever the clocks say: a clock that is ahead only raises a
 * floor too far.
 * @see law L1
 */
export class Sweep {
  constructor(private readonly parts: SweepParts) {}

  /** Whether entries are removed. Up to one command. */
  async isNeeded(): Promise<boolean> {
    const { registry, keptMs } = this.parts
    return keptMs !== Number.POSITIVE_INFINITY && (await registry.lastSeen()).size > 0
  }

  /**
   * Raises the floors of all registrations to the age that this process keeps. A transaction of one
   * command, none if everything is kept.
   */
  async raiseFloors(): Promise<void> {
    const { registry, transactions, keptMs, now } = this.parts
    if (keptMs === Number.POSITIVE_INFINITY) return
    const floor = timeIdAt<PostId>(Math.max(0, now() - keptMs), '0'.repeat(12))
    await transactions.run((tx) => registry.raiseFloors(floor, tx))
  }

  /**
   * Raises the floors, then walks all readers in the order of their ids. Each 50 readers take two
   * commands and a checkpoint, and one for each strategy. Each 100 documents that a reader has
   * below the floor take one more and a transaction, together for these readers. With at least
   * 2,000 readers, the job is split by ranges of them.
   * @param range of a range job. Default: all readers.
   */
  async removeOld(run: Run, range?: KeyRange): Promise<Walked> {
    const { registry, ranges, readers } = this.parts
    const waited = await ranges.wait(run)
    if (waited) return waited === 'ended' ? undefined : waited
    if (!range && run.checkpoint === undefined) {
      await this.raiseFloors()
      const cut = await readers.cut('')
      if (cut.length > 1) return ranges.split(run, { kind, payload: {} }, cut)
    }
    const isOver = timeSlice(range && rangeSliceMs)
    let { after } = positionOf(run, range)
    let count = readersMin
    for (;;) {
      run.signal.throwIfAborted()
      const begun = performance.now()
      const swept = await readers.loadAfter(after, count, { upTo: range?.upTo })
      for (const registration of maintainedIn(await registry.read()))
        for (let more = swept.length > 0; more; ) {
          run.signal.throwIfAborted()
          more = await this.removeBelowFloor(swept, registration)
        }
      const last = swept.at(-1)
      if (!last || swept.length < count) return undefined
      after = last
      await run.save({ after } satisfies WalkCheckpoint)
      if (isOver()) return 'unfinished'
      const isSlow = performance.now() - begun > stepMsMax
      count = isSlow ? Math.ceil(count / 2) : Math.min(readersMax, 2 * count)
    }
  }

  /** Removes up to 100 old documents of each reader. @returns whether more may be left. */
  private async removeBelowFloor(
    readers: readonly UserId[],
    registration: Registration,
  ): Promise<boolean> {
    const { collections, transactions } = this.parts
    const { collection, below } = descriptors[registration._id].storedForm
    const floor = floorOf(registration)
    if (!floor || !below) return false
    const stored = collections[collection] as unknown as Collection<Document>
    const [first = [], ...others] = readers.map((reader) => [
      ...below(reader, floor, registration),
      { $limit: removalMax },
      { $project: { _id: 1, reader: 1 } },
    ])
    const unions = others.map((pipeline) => ({
      $unionWith: { coll: stored.collectionName, pipeline },
    }))
    const old = await stored.aggregate([...first, ...unions], singleBatch).toArray()
    if (old.length === 0) return false
    return transactions.run(async (tx) => {
      const filter = { _id: registration._id, dropping: { $exists: false } }
      const docs = await collections.strategies.find(filter, { session: tx.session }).toArray()
      const current = toRegistered(docs).get(registration._id)
      if (!current?.epoch.equals(registration.epoch) || (floorOf(current) ?? '') < floor)
        return false
      const deletions = old.map((filter) => ({ deleteOne: { filter } }))
      await stored.bulkWrite(deletions, { session: tx.session, ordered: false })
      return true
    })
  }
}
