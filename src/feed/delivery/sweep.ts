import { requestTimeout, singleBatch } from '../../db/client.ts'
import type { Collections } from '../../db/collections.ts'
import type { Transactions } from '../../db/transaction.ts'
import type { Run } from '../../jobs/lease.ts'
import type { NewJob, Outbox } from '../../jobs/outbox.ts'
import { timeSlice } from '../../jobs/time-slice.ts'
import type { UserId } from '../../lib/ids.ts'
import { maintainedIn, type Registered, type Registry, writersIn } from '../registry/registry.ts'
import type { ByStrategy } from '../strategies/list.ts'
import { retentionOf } from '../strategies/retention.ts'
import type { MaterialisedStrategy } from '../strategies/strategy.ts'

/** Number of readers that are checked between two checkpoints. */
const checkpointReaders = 500
/** How often timelines are swept, in milliseconds. */
const sweepIntervalMs = 86_400_000
const mark = 'timelines.sweep'

/** The parts that {@link Sweep} works with. */
export interface SweepParts {
  readonly collections: Pick<Collections, 'user_stats' | 'meta'>
  readonly strategies: ByStrategy<MaterialisedStrategy>
  readonly registry: Registry
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
   * Walks all readers in the order of their handles. For 500 readers three commands for each strategy, and those of
   * the timelines that are dropped or trimmed.
   * @returns 'unfinished' if readers are left for the next run of the job.
   */
  async dropAway(run: Run): Promise<'unfinished' | undefined> {
    const isOver = timeSlice()
    let { after } = (run.checkpoint ?? { after: '' }) as { after: string }
    for (;;) {
      run.signal.throwIfAborted()
      const readers = await this.loadReadersAfter(after)
      await this.sweepReaders(readers, await this.parts.registry.read())
      const last = readers.at(-1)
      if (!last || readers.length < checkpointReaders) return undefined
      after = last
      await run.save({ after })
      if (isOver()) return 'unfinished'
    }
  }

  private async sweepReaders(readers: readonly UserId[], registered: Registered): Promise<void> {
    for (const registration of writersIn(registered)) {
      const { floors } = this.parts.strategies[registration._id]
      await floors?.dropAway(readers, registration)
      await floors?.trim(readers, registration)
    }
  }

  private async loadReadersAfter(handle: string): Promise<UserId[]> {
    const found = await this.parts.collections.user_stats
      .find({ _id: { $gt: handle } }, { ...singleBatch, projection: { _id: 1 } })
      .sort({ _id: 1 })
      .limit(checkpointReaders)
      .toArray()
    return found.map(({ _id }) => _id as UserId)
  }
}
