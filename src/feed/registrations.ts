import { setTimeout as sleep } from 'node:timers/promises'
import { ConfigError } from '../config.ts'
import { requestTimeout } from '../db/client.ts'
import type { Collections, JobDoc, StrategyDoc } from '../db/collections.ts'
import type { Filter } from '../db/mongo.ts'
import { fromObjectId, toObjectId } from '../db/object-id.ts'
import type { Transactions, Tx } from '../db/transaction.ts'
import { DomainError } from '../errors.ts'
import type { NewJob, Outbox } from '../jobs/outbox.ts'
import type { IdMint, PostId, TimeId } from '../lib/ids.ts'
import { lacking, type Options } from './options.ts'
import { removeSome } from './remove-stored.ts'
import {
  type AuthorFilters,
  descriptors,
  type MaterialisedName,
  sharersOf,
} from './strategies/list.ts'

/** How long a registration waits for the number of readers, in milliseconds. */
const estimateMsMax = 1_000

/** What registrations are written through. */
export interface RegistrationParts {
  readonly collections: Collections
  readonly outbox: Outbox
  readonly transactions: Transactions
  readonly mint: IdMint
  readonly filters: AuthorFilters
}

/** A strategy whose readers are not all covered. */
export interface Incomplete {
  readonly name: MaterialisedName
  readonly readers: { readonly done: number; readonly total: number }
  /** What became of the job that back-fills it: RESTORED where there was none. */
  readonly job: 'WAITING' | 'PARKED' | 'RESTORED'
}

/**
 * Makes, changes and ends registrations. One changes at a time in the whole database: every transaction here, and that
 * of every import's batch, writes the same document, so that none decides by what another one is changing.
 * A registration that does not cover all readers has a job that will cover them, from the same transaction.
 */
export class Registrations {
  constructor(private readonly parts: RegistrationParts) {}

  /**
   * Has the database maintain a strategy from now on; readers are covered one by one by a job, or at once where there
   * are none. A strategy that is registered already stays as it is, and takes over only options that it lacks.
   * One command where there is nothing to do, else up to eleven.
   * @param options the options of a new registration.
   * @throws {ConfigError} while the strategy is being dropped.
   */
  async register(name: MaterialisedName, options: Options): Promise<void> {
    const { strategies } = this.parts.collections
    const { backfilled } = descriptors[name]
    const before = await strategies.findOne({ _id: name }, requestTimeout)
    if (before && !before.dropping && lacking(before, options) === undefined) return
    const total = await this.readersAbout()
    const epoch = this.mintEpoch()
    const job = await this.alone(async (tx) => {
      const { session } = tx
      const found = await strategies.findOne({ _id: name }, { session })
      if (found?.dropping) {
        throw new ConfigError([
          `${name} is being dropped: wait until that ends, or repeat "feedline timelines drop"`,
        ])
      }
      if (found) {
        const lacks = lacking(found, options)
        if (lacks) await strategies.updateOne({ _id: name }, { $set: lacks }, { session })
        return undefined
      }
      await strategies.insertOne(
        {
          _id: name,
          epoch: toObjectId(epoch),
          covered: '',
          complete: !backfilled,
          readers: { done: 0, total },
          options: { ...options },
        },
        { session },
      )
      return backfilled ? this.enqueue(tx, [name], epoch) : undefined
    })
    if (job) await this.completeWithoutReaders(name, epoch)
  }

  /**
   * Ends a registration: pages come from FANOUT_ON_READ at once, and what is stored is removed, 1,000 documents a
   * transaction. The last transaction removes the registration. A shared collection is emptied only while no other
   * strategy that shares it is maintained, which each transaction looks at. A repeated drop goes on where it was cut off.
   * @param signal ends it between two transactions, with its reason.
   * @returns false when there was no registration.
   * @throws {DomainError} CONFLICT when another process took the drop over.
   */
  async drop(name: MaterialisedName, signal?: AbortSignal): Promise<boolean> {
    const { strategies } = this.parts.collections
    const epoch = toObjectId(this.mintEpoch())
    const own = { _id: name, epoch, dropping: true as const }
    const begun = await this.alone(async (tx) => {
      const { session } = tx
      const { _id, ...begin } = { ...own, covered: '', complete: false }
      const { matchedCount } = await strategies.updateOne({ _id }, { $set: begin }, { session })
      if (matchedCount === 1) await this.parts.outbox.cancel(tx, jobsOf([name]))
      return matchedCount === 1
    })
    if (!begun) return false
    for (const other of sharersOf(name)) await this.parts.filters.get(other)?.assumeStored()
    for (let more = true; more; ) {
      signal?.throwIfAborted()
      more = await this.alone(async (tx) => {
        if (!(await strategies.findOne(own, tx))) {
          throw new DomainError(
            'CONFLICT',
            `Another process is dropping ${name}. Wait until it finishes.`,
          )
        }
        if (await removeSome(this.parts.collections, tx, name)) return true
        await strategies.deleteOne(own, tx)
        return false
      })
    }
    return true
  }

  /**
   * Has all timelines of a strategy back-filled again; until then pages come from FANOUT_ON_READ.
   * @returns false when the strategy is not registered, or is being dropped.
   */
  async rebuild(name: MaterialisedName): Promise<boolean> {
    const total = await this.readersAbout()
    const names = await this.alone((tx) => this.uncover(tx, { _id: name }, 0, total))
    return names.length === 1
  }

  /**
   * Within a transaction that writes edges or posts without jobs of their own: uncovers all readers of all strategies,
   * and leaves the jobs that cover them again after `delayMs`. A back-fill that is under way ends, since it may
   * have read before. Five commands; two where nothing is registered.
   */
  async invalidate(tx: Tx, delayMs: number): Promise<void> {
    await this.uncover(tx, {}, delayMs)
  }

  /** Has the back-fills that wait because of {@link invalidate} begin. One command. */
  async beginRebuilds(): Promise<void> {
    await this.parts.outbox.hasten({ kind: 'strategy.backfill', 'payload.author': null })
  }

  /**
   * Sets from how many followers on HYBRID reads an author. Authors change sides with their next post.
   * @returns false when HYBRID is not registered, or is being dropped. One command.
   */
  async setThreshold(threshold: number): Promise<boolean> {
    const { matchedCount } = await this.parts.collections.strategies.updateOne(
      { _id: 'HYBRID', ...maintained },
      { $set: { 'options.threshold': threshold } },
      requestTimeout,
    )
    return matchedCount === 1
  }

  /**
   * Finds strategies that do not cover all readers, and queues the back-fill of those that have no job: it goes on
   * where the last one ended. One command where all are complete.
   */
  async restore(): Promise<Incomplete[]> {
    const { strategies } = this.parts.collections
    const uncovered = { complete: false, ...maintained }
    const found = await strategies.find(uncovered, requestTimeout).toArray()
    const incomplete: Incomplete[] = []
    for (const { _id, readers = { done: 0, total: 0 } } of found) {
      const name = _id as MaterialisedName
      const job = await this.restoreJob(name)
      if (job) incomplete.push({ name, readers, job })
    }
    return incomplete
  }

  private async restoreJob(name: MaterialisedName): Promise<Incomplete['job'] | undefined> {
    const { strategies, outbox } = this.parts.collections
    return this.alone(async (tx) => {
      const registration = { _id: name, complete: false, ...maintained }
      const found = await strategies.findOne(registration, tx)
      if (!found) return undefined
      const epoch = fromObjectId<PostId>(found.epoch)
      const job = await outbox.findOne({ ...jobsOf([name]), 'payload.epoch': epoch }, tx)
      if (job) return job.state === 'PARKED' ? 'PARKED' : 'WAITING'
      await this.enqueue(tx, [name], epoch)
      return 'RESTORED'
    })
  }

  /** Runs a transaction that no other change of a registration, and no batch of an import, passes. */
  async alone<T>(work: (tx: Tx) => Promise<T>): Promise<T> {
    return this.parts.transactions.run(async (tx) => {
      await this.meet(tx)
      return work(tx)
    })
  }

  /** Has this transaction meet all others that read or change which strategies are registered. One command. */
  async meet(tx: Tx): Promise<void> {
    await this.parts.collections.meta.updateOne(
      { _id: 'registrations' },
      { $set: { value: this.mintEpoch() } },
      { ...tx, upsert: true },
    )
  }

  /** Which strategies are registered and not being dropped, as the transaction sees it. One command. */
  async namesIn(tx: Tx, which: Filter<StrategyDoc> = {}): Promise<MaterialisedName[]> {
    const found = await this.parts.collections.strategies
      .find({ ...which, ...maintained }, { ...tx, projection: { _id: 1 } })
      .toArray()
    return found.map(({ _id }) => _id as MaterialisedName)
  }

  private async uncover(
    tx: Tx,
    which: Filter<StrategyDoc>,
    delayMs: number,
    total?: number,
  ): Promise<MaterialisedName[]> {
    const names = await this.namesIn(tx, which)
    if (names.length === 0) return names
    const epoch = this.mintEpoch()
    const uncovered = { epoch: toObjectId(epoch), covered: '', complete: false }
    const readers = {
      'readers.done': 0,
      ...(total === undefined ? {} : { 'readers.total': total }),
    }
    await this.parts.collections.strategies.updateMany(
      { _id: { $in: names } },
      { $set: { ...uncovered, ...readers } },
      { session: tx.session },
    )
    await this.parts.outbox.cancel(tx, jobsOf(names))
    await this.enqueue(tx, names, epoch, delayMs)
    return names
  }

  private async enqueue(
    tx: Tx,
    names: readonly MaterialisedName[],
    epoch: PostId,
    delayMs = 0,
  ): Promise<true> {
    const jobs = names.map((strategy): NewJob => {
      return { kind: 'strategy.backfill', payload: { strategy, epoch }, lane: 'BULK' }
    })
    await this.parts.outbox.enqueue(tx, jobs, delayMs)
    return true
  }

  /**
   * Who opens an account from now on is delivered to. So where there are no accounts after the registration was
   * committed, it covers everyone.
   */
  private async completeWithoutReaders(name: MaterialisedName, epoch: PostId): Promise<void> {
    const { strategies, user_stats } = this.parts.collections
    const first = { ...requestTimeout, sort: { _id: 1 }, projection: { _id: 1 } } as const
    if (await user_stats.findOne({ _id: { $gte: '' } }, first)) return
    await this.alone(async (tx) => {
      const { session } = tx
      const registration = { _id: name, epoch: toObjectId(epoch), ...maintained }
      await strategies.updateOne(registration, { $set: { complete: true } }, { session })
      await this.parts.outbox.cancel(tx, { ...jobsOf([name]), 'payload.epoch': epoch, fence: 0 })
    })
  }

  /**
   * How many readers there are, from the collection's own records; 0 where that takes long or fails. It is for showing
   * progress alone. One command.
   */
  private async readersAbout(): Promise<number> {
    const { user_stats } = this.parts.collections
    const estimate = user_stats.estimatedDocumentCount(requestTimeout).catch(() => 0)
    return Promise.race([estimate, sleep(estimateMsMax, 0, { ref: false })])
  }

  private mintEpoch(): PostId {
    return this.parts.mint.next<TimeId>() as PostId
  }
}

const maintained = { dropping: { $exists: false } } as const

/** The jobs that back-fill these strategies; served by the index on kind and author. */
const jobsOf = (names: readonly MaterialisedName[]): Filter<JobDoc> => ({
  kind: 'strategy.backfill',
  'payload.author': null,
  'payload.strategy': { $in: [...names] },
})
