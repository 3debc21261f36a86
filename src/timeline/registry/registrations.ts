import { ConfigError } from '../../config.ts'
import { requestTimeout } from '../../db/client.ts'
import type { Collections, StrategyDoc } from '../../db/collections.ts'
import type { Filter, ObjectId } from '../../db/mongo.ts'
import { toObjectId } from '../../db/object-id.ts'
import type { Transactions, Tx } from '../../db/transaction.ts'
import type { Outbox } from '../../jobs/outbox.ts'
import type { IdMint, PostId, TimeId, UserId } from '../../lib/ids.ts'
import { descriptors, type MaterialisedName } from '../strategies/list.ts'
import {
  backfillJobs,
  backfillsAndRanges,
  type IncompleteStrategy,
  loadBackfill,
  maintained,
  toBackfillJobs,
} from './backfill-jobs.ts'
import { estimateReaders } from './estimate-readers.ts'
import { missingOptions, type Options } from './options.ts'
import { unsettled } from './registry.ts'
import { removeStoredBatch, takenOver } from './remove-stored.ts'

/** The parts that {@link Registrations} works with. */
export interface RegistrationParts {
  readonly collections: Collections
  readonly outbox: Outbox
  readonly transactions: Transactions
  readonly mint: IdMint
  /** The database's clock, in milliseconds since 1970. */
  readonly now: () => number
}

/**
 * Creates, changes and ends registrations. Every transaction here, and of each batch of an import,
 * writes the same document. So the database runs them one after the other. A registration that does
 * not cover all readers has a back-fill job from the same transaction.
 */
export class Registrations {
  constructor(private readonly parts: RegistrationParts) {}

  /**
   * Registers a strategy, and enqueues the job that back-fills it unless there are no readers. A
   * registered strategy only takes the options that it lacks. If no other one is registered, posts
   * of transactions that are under way have no jobs. Then its back-fill waits for
   * {@link Registry.settle}.
   * @param options the options of a new registration.
   * @throws {ConfigError} if the strategy is being dropped. Cost: one command if there is nothing
   * to do, otherwise up to 22, and one transaction for each 1,000 entries that a drop has left.
   */
  async register(name: MaterialisedName, options: Options): Promise<void> {
    const { strategies } = this.parts.collections
    const { backfilled } = descriptors[name]
    const before = await strategies.findOne({ _id: name }, requestTimeout)
    if (before && !before.dropping && missingOptions(before, options) === undefined) return
    const total = await estimateReaders(this.parts.collections)
    const epoch = this.mintEpoch()
    const create = async (tx: Tx) => {
      const current = await strategies.findOne({ _id: name }, tx)
      if (current?.dropping) {
        throw new ConfigError([
          `${name} is being dropped: wait until that ends, or repeat "feedline timelines drop"`,
        ])
      }
      if (current) {
        const lacks = missingOptions(current, options)
        if (lacks) await strategies.updateOne({ _id: name }, { $set: lacks }, tx)
        return undefined
      }
      // A delivery that was under way during the last drop may have written since. No registration
      // covers its entries, so the removal of an account would not find them.
      if (await removeStoredBatch(this.parts.collections, tx, name)) return 'not yet' as const
      const others = await strategies.find({ _id: { $ne: name } }, tx).toArray()
      // All posts of transactions that do not see such a strategy are committed.
      const waits = !others.some(({ settlesAt }) => (settlesAt?.getTime() ?? 0) <= this.parts.now())
      const complete = !backfilled && !waits
      const settlesAt = waits ? { settlesAt: unsettled } : {}
      await strategies.insertOne(
        {
          _id: name,
          epoch: toObjectId(epoch),
          covered: '',
          complete,
          ...settlesAt,
          readers: { done: 0, total },
          options,
        },
        tx,
      )
      if (!complete) await this.enqueue(tx, [name], epoch)
      return complete ? undefined : 'uncovered'
    }
    let created = await this.runExclusive(create)
    while (created === 'not yet') created = await this.runExclusive(create)
    if (created) await this.completeWithoutReaders(name, epoch)
  }

  /**
   * Ends a registration. FANOUT_ON_READ serves its pages at once. Each transaction removes up to
   * 1,000 stored documents per collection, and the last one removes the registration. A repeated
   * drop continues an interrupted one.
   * @param signal ends the drop between two transactions, with its reason.
   * @returns false if there was no registration.
   * @throws {DomainError} CONFLICT if another process took over the drop.
   */
  async drop(name: MaterialisedName, signal?: AbortSignal): Promise<boolean> {
    const { strategies } = this.parts.collections
    const epoch = toObjectId(this.mintEpoch())
    const own = { _id: name, epoch, dropping: true as const }
    const begun = await this.runExclusive(async (tx) => {
      const { _id, ...begin } = { ...own, covered: '', complete: false }
      const end = { split: '', changedSince: '' } as const
      const { matchedCount } = await strategies.updateOne({ _id }, { $set: begin, $unset: end }, tx)
      if (matchedCount === 1) await this.parts.outbox.cancel(tx, backfillsAndRanges([name]))
      return matchedCount === 1
    })
    if (!begun) return false
    for (let more = true; more; ) {
      signal?.throwIfAborted()
      more = await this.runExclusive(async (tx) => {
        // On a sharded cluster it also waits until pages see the drop.
        if (!(await strategies.findOne(own, tx))) throw takenOver(name)
        if (await removeStoredBatch(this.parts.collections, tx, name)) return true
        await strategies.deleteOne(own, tx)
        return false
      })
    }
    return true
  }

  /**
   * Enqueues a new back-fill of all timelines of a strategy. FANOUT_ON_READ serves readers that are
   * not covered.
   * @returns false if the strategy is not registered, or is being dropped.
   */
  async rebuild(name: MaterialisedName): Promise<boolean> {
    const total = await estimateReaders(this.parts.collections)
    const names = await this.runExclusive((tx) =>
      this.invalidateReaders(tx, { _id: name }, 0, total),
    )
    return names.length === 1
  }

  /**
   * Takes all strategies out of service, and enqueues the back-fill of the timelines of changed
   * readers after `delayMs` milliseconds. Strategies that were being filled begin again with all
   * readers, or with those of earlier batches. A running back-fill ends, because it may have read
   * before. For transactions that write edges, after {@link lockRegistrations}. Five commands, and
   * four if strategies were being filled; one if none is registered.
   */
  async invalidateChanged(tx: Tx, readers: readonly UserId[], delayMs: number): Promise<void> {
    const { user_stats, strategies } = this.parts.collections
    const registered = await strategies.find(maintained, tx).toArray()
    if (registered.length === 0) return
    const epoch = this.mintEpoch()
    const since = toObjectId(epoch)
    await user_stats.updateMany({ _id: { $in: [...readers] } }, { $set: { imported: since } }, tx)
    // Of a strategy that is being filled because of an import, readers of earlier batches are left.
    const covering = registered.filter((doc) => doc.complete || doc.changedSince)
    const updates = covering.map((doc) => ({
      updateOne: {
        filter: { _id: doc._id },
        update: {
          $set: {
            ...{ epoch: since, covered: '', complete: false },
            changedSince: lowerOf(doc.changedSince, since),
            readers: {
              done: 0,
              total: readers.length + (doc.complete ? 0 : (doc.readers?.total ?? 0)),
            },
          },
          $unset: { split: '' } as const,
        },
      },
    }))
    if (updates.length > 0) {
      await strategies.bulkWrite(updates, { session: tx.session })
      const names = covering.map(({ _id }) => _id as MaterialisedName)
      await this.parts.outbox.cancel(tx, backfillsAndRanges(names))
      await this.enqueue(tx, names, epoch, delayMs)
    }
    const others = registered.filter((doc) => !covering.includes(doc)).map(({ _id }) => _id)
    if (others.length > 0) await this.invalidateReaders(tx, { _id: { $in: others } }, delayMs)
  }

  /** Makes the back-fills that {@link invalidateChanged} delayed due at once. One command. */
  async beginRebuilds(): Promise<void> {
    await this.parts.outbox.hasten(backfillJobs())
  }

  /**
   * Finds strategies that do not cover all readers, and enqueues missing back-fill jobs. A job
   * continues after the last covered reader. One command if all strategies are complete.
   */
  async restoreJobs(): Promise<IncompleteStrategy[]> {
    const uncovered = { complete: false, ...maintained }
    const found = await this.parts.collections.strategies.find(uncovered, requestTimeout).toArray()
    const incomplete: IncompleteStrategy[] = []
    for (const { _id, readers = { done: 0, total: 0 } } of found) {
      const name = _id as MaterialisedName
      const job = await this.restoreJob(name)
      if (job) incomplete.push({ name, readers, job })
    }
    return incomplete
  }

  private async restoreJob(name: MaterialisedName): Promise<IncompleteStrategy['job'] | undefined> {
    return this.runExclusive(async (tx) => {
      const found = await loadBackfill(this.parts.collections, tx, name)
      if (!found || found.job) return found?.job
      await this.enqueue(tx, [name], found.epoch)
      return 'RESTORED'
    })
  }

  /**
   * Runs a transaction that excludes other changes of registrations and import batches. Two
   * commands and `work`'s.
   */
  async runExclusive<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    return this.parts.transactions.run(async (tx) => {
      await this.lockRegistrations(tx)
      return work(tx)
    })
  }

  /**
   * Makes this transaction collide with all others that read or change the set of registrations.
   * One command.
   */
  async lockRegistrations(tx: Tx): Promise<void> {
    const { collections } = this.parts
    await collections.meta.updateOne(
      { _id: 'registrations' },
      { $set: { value: this.mintEpoch() } },
      { ...tx, upsert: true },
    )
  }

  /**
   * Loads the registered strategies that are not being dropped, as the transaction sees them. One
   * command.
   */
  async loadMaintainedNames(tx: Tx, which: Filter<StrategyDoc> = {}): Promise<MaterialisedName[]> {
    const docs = await this.parts.collections.strategies
      .find({ ...which, ...maintained }, { ...tx, projection: { _id: 1 } })
      .toArray()
    return docs.map(({ _id }) => _id as MaterialisedName)
  }

  private async invalidateReaders(
    tx: Tx,
    which: Filter<StrategyDoc>,
    delayMs: number,
    total?: number,
  ): Promise<MaterialisedName[]> {
    const names = await this.loadMaintainedNames(tx, which)
    if (names.length === 0) return names
    const epoch = this.mintEpoch()
    const uncovered = { epoch: toObjectId(epoch), covered: '', complete: false }
    const readers = {
      'readers.done': 0,
      ...(total === undefined ? {} : { 'readers.total': total }),
    }
    await this.parts.collections.strategies.updateMany(
      { _id: { $in: names } },
      { $set: { ...uncovered, ...readers }, $unset: { split: '', floor: '', changedSince: '' } },
      { session: tx.session },
    )
    await this.parts.outbox.cancel(tx, backfillsAndRanges(names))
    await this.enqueue(tx, names, epoch, delayMs)
    return names
  }

  private async enqueue(
    tx: Tx,
    names: readonly MaterialisedName[],
    epoch: PostId,
    delayMs = 0,
  ): Promise<true> {
    await this.parts.outbox.enqueue(tx, toBackfillJobs(names, epoch), delayMs)
    return true
  }

  /**
   * Marks a new registration as complete if no account exists. Transactions of later accounts see
   * the registration, so their posts get deliveries from the start. One command, and a transaction
   * if there are no accounts.
   */
  private async completeWithoutReaders(name: MaterialisedName, epoch: PostId): Promise<void> {
    const { strategies, user_stats } = this.parts.collections
    const first = { ...requestTimeout, sort: { _id: 1 }, projection: { _id: 1 } } as const
    if (await user_stats.findOne({ _id: { $gte: '' } }, first)) return
    await this.runExclusive(async (tx) => {
      const registration = { _id: name, epoch: toObjectId(epoch), ...maintained }
      const completed = { $set: { complete: true }, $unset: { settlesAt: '' } } as const
      await strategies.updateOne(registration, completed, tx)
      await this.parts.outbox.cancel(tx, {
        ...backfillJobs([name]),
        'payload.epoch': epoch,
        fence: 0,
      })
    })
  }

  private mintEpoch(): PostId {
    return this.parts.mint.next<TimeId>() as PostId
  }
}

const lowerOf = (one: ObjectId | undefined, other: ObjectId): ObjectId =>
  one && one.toHexString() < other.toHexString() ? one : other
