import type { Refusals } from '../db/admitted.ts'
import { fromObjectId } from '../db/object-id.ts'
import type { EngagementId, UserId } from '../lib/ids.ts'
import type { Admission } from './admission.ts'
import type { NewEntry } from './list-plan.ts'
import type { QueuedWrite } from './list-transaction.ts'

/** Why each of some new entries is refused. Undefined for an admitted entry. */
type RefusedEntries = ReadonlyMap<NewEntry | undefined, Error | undefined>

/** Admits the adds of a turn together, while their batches already read what they depend on. */
export class TurnAdmissions {
  private readonly begun = new WeakMap<NewEntry, Promise<RefusedEntries>>()

  constructor(private readonly admission: Admission) {}

  /**
   * Starts to admit adds together. Never rejects: an admission that fails refuses all of them with its error.
   * Costs {@link Admission.admit}; no command without adds.
   */
  begin(adds: readonly QueuedWrite[]): Promise<RefusedEntries> {
    const refused = this.admit(adds).catch(
      (error: Error): RefusedEntries => new Map(adds.map(({ write }) => [write.add, error])),
    )
    for (const { write } of adds) if (write.add) this.begun.set(write.add, refused)
    return refused
  }

  /**
   * Waits for the admissions that have begun, and admits the adds that ask for it.
   * @returns why each write must not be committed, in order.
   * @throws what an admission of adds that ask for it throws.
   */
  async refusalsOf(batch: readonly QueuedWrite[]): Promise<Refusals> {
    const asked = this.admit(batch.filter(({ write }) => write.needsAdmission))
    const turns = new Set(batch.map(({ write }) => write.add && this.begun.get(write.add)))
    const refused = await Promise.all([asked, ...turns])
    return batch.map(({ write: { add } }) => refused.find((some) => some?.has(add))?.get(add))
  }

  private async admit(adds: readonly QueuedWrite[]): Promise<RefusedEntries> {
    const entries = adds.flatMap(({ post, write: { kind, add } }) =>
      add
        ? [{ id: fromObjectId<EngagementId>(add._id), user: add.actor as UserId, kind, post }]
        : [],
    )
    const refusals = entries.length > 0 ? await this.admission.admit(entries) : []
    return new Map(adds.map(({ write }, at) => [write.add, refusals[at]]))
  }
}
