import { requestTimeout, singleBatch } from '../../db/client.ts'
import type { Collections } from '../../db/collections.ts'
import type { Transactions } from '../../db/transaction.ts'
import type { Run } from '../../jobs/lease.ts'
import type { NewJob, Outbox } from '../../jobs/outbox.ts'
import type { KeyRange, RangeJobs } from '../../jobs/ranges.ts'
import { rangeSliceMs, timeSlice } from '../../jobs/time-slice.ts'
import type { UserId } from '../../lib/ids.ts'
import { maintainedIn, type Registered, type Registry } from '../registry/registry.ts'
import type { ByStrategy } from '../strategies/list.ts'
import { retentionOf } from '../strategies/retention.ts'
import type { MaterialisedStrategy } from '../strategies/strategy.ts'
import { positionOf, type WalkCheckpoint, type Walked } from './follower-walk.ts'
import type { ReaderWalk } from './reader-walk.ts'

/**
 * Number of readers that are checked between two checkpoints: at first, and at most. Each of them may have a timeline to
 * remove, which is bounded, but may have many entries.
 */
const [readersMin, readersMax] = [50, 100]
/** How long this may take before the next checkpoint has half as many readers, in milliseconds. */
const stepMsMax = 500
/** How often timelines are swept, in milliseconds. */
const sweepIntervalMs = 86_400_000
const mark = 'timelines.sweep'

/** The parts that {@link Sweep} works with. */
export interface SweepParts {
  readonly collections: Pick<Collections, 'users' | 'meta'>
  readonly strategies: ByStrategy<MaterialisedStrategy>
  readonly registry: Registry
  readonly ranges: RangeJobs
  readonly readers: ReaderWalk
  readonly outbox: Outbox
  readonly transactions: Transactions
  /** Milliseconds since 1970. */
  readonly now: () => number
}

/** Drops the timelines of readers who were away for too long, and trims the others, once a day. */
export class Sweep {
  constructor(private readonly parts: SweepParts) {}

  /** Queues the job of the day if a registration has a retention. One command, and one transaction a day. */
  async enqueueDaily(): Promise<void> {
    const { collections, registry, outbox, transactions, now } = this.parts
    const registered = await registry.lastSeen()
    if (!maintainedIn(registered).some((one) => retentionOf(one))) return
    const at = now()
    const last = await collections.meta.findOne({ _id: mark }, requestTimeout)
    const lastMs = Number(last?.value ?? 0)
    if (at - lastMs < sweepIntervalMs) return
    await transactions.run(async (tx) => {
      const { session } = tx
      const before = await collections.meta.findOne({ _id: mark }, { session })
      if (Number(before?.value ?? 0) !== lastMs) return
      await collections.meta.updateOne(
        { _id: mark },
        { $set: { value: `${at}` } },
        { session, upsert: true },
      )
      const job: NewJob = { kind: 'timelines.sweep', payload: {}, queue: 'BULK' }
      await outbox.enqueue(tx, [job])
    })
  }

  /**
   * Walks all readers in the order of their handles, and saves its checkpoint after up to 100 of them. These take three
   * commands, three for each strategy, and those of the timelines that are dropped or trimmed. With at least 2,000
   * readers, the job is split by ranges of them.
   * @param range of a range job. Default: all readers.
   */
  async dropAway(run: Run, range?: KeyRange): Promise<Walked> {
    const { registry, ranges, readers } = this.parts
    const waited = await ranges.wait(run)
    if (waited) return waited === 'ended' ? undefined : waited
    if (!range && run.checkpoint === undefined) {
      const cut = await readers.cut('')
      if (cut.length > 1) return ranges.split(run, { kind: mark, payload: {} }, cut)
    }
    const isOver = timeSlice(range && rangeSliceMs)
    let { after } = positionOf(run, range)
    let count = readersMin
    for (;;) {
      run.signal.throwIfAborted()
      const begun = performance.now()
      const some = await readers.loadAfter(after, count, range?.upTo)
      await this.sweepReaders(some, await registry.read())
      const last = some.at(-1)
      if (!last || some.length < count) return undefined
      after = last
      await run.save({ after } satisfies WalkCheckpoint)
      if (isOver()) return 'unfinished'
      const isSlow = performance.now() - begun > stepMsMax
      count = isSlow ? Math.ceil(count / 2) : Math.min(readersMax, 2 * count)
    }
  }

  private async sweepReaders(readers: readonly UserId[], registered: Registered): Promise<void> {
    const accounts = await this.parts.collections.users
      .find({ _id: { $in: [...readers] } }, { ...singleBatch, projection: { createdAt: 1 } })
      .toArray()
    const createdAt = new Map(accounts.map(({ _id, createdAt: at }) => [_id as UserId, at]))
    for (const registration of maintainedIn(registered)) {
      const { floors } = this.parts.strategies[registration._id]
      await floors?.dropAway(createdAt, registration)
      await floors?.trim(readers, registration)
    }
  }
}
