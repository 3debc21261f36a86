import type { Collections } from '../db/collections.ts'
import { toObjectId } from '../db/object-id.ts'
import type { Tx } from '../db/transaction.ts'
import type { IdMint } from '../lib/ids.ts'

/** Where a write leaves the work that must follow it. */
export class Outbox {
  constructor(
    private readonly outbox: Collections['outbox'],
    private readonly mint: IdMint,
  ) {}

  /**
   * Promises a job that is due at once: it exists exactly when the caller's transaction commits.
   * One command; an upsert, because only an update can take `runAt` from the server's clock.
   * @param payload what the task needs to find its way, plain JSON and small: ids, not documents.
   * @see law L4
   */
  async append(tx: Tx, kind: string, payload: Readonly<Record<string, unknown>>): Promise<void> {
    await this.outbox.updateOne(
      { _id: toObjectId(this.mint.next()) },
      {
        $setOnInsert: { kind, payload, state: 'READY', fence: 0, attempts: 0 },
        $currentDate: { runAt: true },
      },
      { upsert: true, session: tx.session },
    )
  }
}
