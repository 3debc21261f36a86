import { requestTimeout } from '../db/client.ts'
import type { Collections } from '../db/collections.ts'
import type { Transactions } from '../db/transaction.ts'
import type { Outbox } from './outbox.ts'

/**
 * A long job without payload that the database needs once in each period, whichever process queues
 * it.
 */
export interface PeriodicJob<Kind extends string = string> {
  /** Also the name of its mark in `meta`. Persisted. */
  readonly kind: Kind
  /** From one job to the next, in milliseconds. */
  readonly everyMs: number
  /** Whether the job would find anything to do. */
  readonly isNeeded: () => Promise<boolean>
}

/** What {@link PeriodicJobs} works with. */
interface PeriodicParts {
  readonly collections: Collections
  readonly outbox: Outbox
  readonly transactions: Transactions
  /** The database's clock, in milliseconds since 1970. */
  readonly now: () => number
}

/** Queues the periodic jobs of all features. A mark of each says when it was queued last. */
export class PeriodicJobs {
  constructor(
    private readonly parts: PeriodicParts,
    private readonly jobs: readonly PeriodicJob[],
  ) {}

  /**
   * Queues each job whose period is over. Of processes that call it at the same time, one queues
   * it. One command for each job that is needed, and a transaction of three for one that is due.
   * @throws the first failure, after it has tried all jobs.
   */
  async queueDue(): Promise<void> {
    const failures: unknown[] = []
    for (const job of this.jobs) {
      try {
        if (await job.isNeeded()) await this.queue(job)
      } catch (error) {
        failures.push(error)
      }
    }
    if (failures.length > 0) throw failures[0]
  }

  private async queue({ kind, everyMs }: PeriodicJob): Promise<void> {
    const { collections, outbox, transactions, now } = this.parts
    const { meta } = collections
    const at = now()
    const last = await meta.findOne({ _id: kind }, requestTimeout)
    // A mark from the future is that of a clock that was wrong.
    if (Math.abs(at - Number(last?.value ?? 0)) < everyMs) return
    await transactions.run(async (tx) => {
      const { session } = tx
      const current = await meta.findOne({ _id: kind }, { session })
      if (current?.value !== last?.value) return
      const mark = { $set: { value: `${at}` } }
      await meta.updateOne({ _id: kind }, mark, { session, upsert: true })
      await outbox.enqueue(tx, [{ kind, payload: {}, queue: 'BULK' }])
    })
  }
}
