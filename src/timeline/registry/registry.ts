import { requestTimeout, singleBatch } from '../../db/client.ts'
import type { Collections, CoveredRange, StrategyDoc } from '../../db/collections.ts'
import type { Document } from '../../db/mongo.ts'
import { toObjectId } from '../../db/object-id.ts'
import { conforms } from '../../db/shape.ts'
import { shapes } from '../../db/shapes.ts'
import { shareReads } from '../../db/shared-reads.ts'
import type { Tx } from '../../db/transaction.ts'
import type { KeyRange } from '../../jobs/ranges.ts'
import type { PostId, UserId } from '../../lib/ids.ts'
import { KeptValues } from '../../memory/kept-values.ts'
import type { ProcessMemory } from '../../memory/process-memory.ts'
import {
  descriptors,
  type FeedStrategyName,
  type MaterialisedName,
  materialisedNames,
} from '../strategies/list.ts'

/** The registration of a strategy. */
export interface Registration extends StrategyDoc {
  readonly _id: MaterialisedName
}

/** The registrations of a database by strategy. */
export type Registered = ReadonlyMap<FeedStrategyName, Registration>

/** The registrations of the strategies that are not being dropped. */
export const maintainedIn = (registered: Registered): Registration[] =>
  [...registered.values()].filter(({ dropping }) => !dropping)

/** The strategies whose timelines grow, so that old entries are removed. */
const growing = materialisedNames.filter((name) => descriptors[name].storedForm.below)

/**
 * The registrations by name, from all documents of `strategies`. A malformed one counts as none.
 */
export const toRegistered = (docs: readonly StrategyDoc[]): Registered =>
  new Map(
    (docs as readonly Registration[])
      .filter((doc) => doc._id in descriptors && conforms(shapes.strategies, doc))
      .map((doc) => [doc._id, doc]),
  )

/** What {@link Registry.lookUp} adds to each document of an aggregate: all registrations. */
export interface RegistrationRow {
  readonly strategies: readonly StrategyDoc[]
}

/**
 * How long a back-fill waits once every process can see the first registration, in milliseconds:
 * until all transactions of posts that do not know it are over. With a margin for clocks.
 */
export const transactionMsMax = 20_000

/** The end of a wait that has not begun. */
export const unsettled = new Date('9999-01-01')

/** Whether a reader's timeline holds all posts from before the registration. */
export const isBackfilled = (registration: StrategyDoc | undefined, reader: UserId): boolean =>
  registration !== undefined &&
  (registration.complete ||
    reader <= registration.covered ||
    registration.split?.some((range) => isCovered(range, reader)) === true)

const isCovered = ({ after, upTo, covered, done }: CoveredRange, reader: UserId): boolean =>
  reader > after && (done ? upTo === undefined || reader <= upTo : reader <= covered)

/**
 * Whether two reads saw the same registration, so that a page read under `then` is valid under
 * `now`.
 */
export const isSameRegistration = (
  then: StrategyDoc | undefined,
  now: StrategyDoc | undefined,
): boolean => then !== undefined && now !== undefined && then.epoch.equals(now.epoch)

/**
 * Reads the registrations. They belong to the database, not to a process: a delivery reads them
 * after its post is committed, and a later registration back-fills that post. So processes with
 * different configurations lose no posts.
 *
 * They are a few small documents on one shard. {@link Registrations} creates and ends
 * registrations.
 */
export class Registry {
  private latest: Registered | undefined
  private readonly kept: KeptValues<Registered>
  private readonly share = shareReads('registrations', () => this.read())

  /** @param bytesMax 0: nothing is kept. */
  constructor(
    private readonly strategies: Collections['strategies'],
    { memory, bytesMax }: { readonly memory: ProcessMemory; readonly bytesMax: number },
  ) {
    this.kept = new KeptValues({
      ...{ memory, bytesMax, name: 'registrations', largestShare: 1 },
      follows: ['strategies'],
      changedBy: () => 'all',
      bytesOf: (registered) => 1_000 * registered.size + 100,
    })
  }

  /**
   * Loads the current registrations with the progress of their back-fills. One command, to one
   * shard.
   */
  async read(): Promise<Registered> {
    this.latest = toRegistered(await this.strategies.find({}, singleBatch).toArray())
    return this.latest
  }

  /** As {@link read}. Concurrent calls share the command. */
  async readShared(): Promise<Registered> {
    return this.share([])
  }

  /** The stage that makes an aggregate read the registrations. See {@link accept}. */
  lookUp(): Document {
    const { collectionName: from } = this.strategies
    return { $lookup: { from, pipeline: [{ $match: {} }], as: 'strategies' } }
  }

  /** The registrations that {@link lookUp} has read. Sends no command. */
  accept({ strategies }: RegistrationRow): Registered {
    this.latest = toRegistered(strategies)
    return this.latest
  }

  /**
   * As {@link read}: from memory, otherwise by a command that concurrent calls share. @param
   * isCurrent whether memory is.
   */
  async load(isCurrent: boolean): Promise<Registered> {
    const loaded = await this.kept.load(['all'], isCurrent, async () => {
      return new Map([['all', await this.readShared()]])
    })
    // A page that finds others than it has read under tries again under these.
    this.latest = loaded.get('all') ?? new Map()
    return this.latest
  }

  /**
   * The registrations that this process read last. They may be out of date, so callers compare them
   * with a later read. One command if the process has read none.
   */
  async lastSeen(): Promise<Registered> {
    return this.latest ?? this.read()
  }

  /**
   * How long the back-fill of a registration still waits for posts of transactions that do not know
   * it, in milliseconds. The first call begins the wait: call it in the job, whose claim is
   * acknowledged only if all processes can see the registration. One command then.
   * @param now by the database's clock, in milliseconds since 1970.
   */
  async settle({ _id, epoch, settlesAt }: Registration, now: number): Promise<number> {
    if (settlesAt?.getTime() !== unsettled.getTime()) return (settlesAt?.getTime() ?? 0) - now
    const end = { settlesAt: new Date(now + transactionMsMax) }
    await this.strategies.updateOne({ _id, epoch, settlesAt }, { $set: end }, requestTimeout)
    return transactionMsMax
  }

  /**
   * Saves the progress of a back-fill. One command.
   * @param covered the last reader whose timeline is filled.
   * @param done the number of readers filled since the last call.
   * @returns false if its registration is over.
   */
  async saveProgress(
    name: MaterialisedName,
    epoch: PostId,
    covered: UserId,
    done: number,
  ): Promise<boolean> {
    const { matchedCount } = await this.strategies.updateOne(
      { _id: name, epoch: toObjectId(epoch) },
      { $set: { covered }, $inc: { 'readers.done': done } },
      requestTimeout,
    )
    return matchedCount === 1
  }

  /**
   * Raises the floors of all maintained registrations whose timelines grow: from now on, stored
   * timelines may lack older posts. No floor falls while its epoch lasts. One command.
   * @returns whether any floor rose.
   */
  async raiseFloors(floor: PostId, { session }: Tx): Promise<boolean> {
    const { modifiedCount } = await this.strategies.updateMany(
      { _id: { $in: growing }, dropping: { $exists: false } },
      { $max: { floor: toObjectId(floor) } },
      { session },
    )
    return modifiedCount > 0
  }

  /**
   * Notes the ranges that are back-filled separately, if the registration is not over. One command.
   */
  async split(
    name: MaterialisedName,
    epoch: PostId,
    ranges: readonly KeyRange[],
    { session }: Tx,
  ): Promise<void> {
    const split = ranges.map((range) => ({ ...range, covered: range.after }))
    await this.strategies.updateOne(
      { _id: name, epoch: toObjectId(epoch) },
      { $set: { split } },
      { session },
    )
  }

  /**
   * Saves the progress of the back-fill of a range. One command.
   * @param covered the last reader whose timeline is filled. Undefined: no reader of the range is
   *   left.
   * @param done the number of readers filled since the last call.
   */
  async saveRange(
    name: MaterialisedName,
    epoch: PostId,
    { after }: KeyRange,
    { covered, done }: { readonly covered: UserId | undefined; readonly done: number },
  ): Promise<void> {
    await this.strategies.updateOne(
      { _id: name, epoch: toObjectId(epoch), 'split.after': after },
      {
        // A worker that has lost its lease never moves the position back.
        ...(covered === undefined
          ? { $set: { 'split.$.done': true } }
          : { $max: { 'split.$.covered': covered } }),
        $inc: { 'readers.done': done },
      },
      requestTimeout,
    )
  }

  /**
   * Marks a registration as covering all readers. Changes nothing if it is over, or if one of its
   * ranges is not done. One command.
   */
  async markComplete(name: MaterialisedName, epoch: PostId): Promise<void> {
    const isOpen = { split: { $elemMatch: { done: { $exists: false } } } }
    await this.strategies.updateOne(
      { _id: name, epoch: toObjectId(epoch), $nor: [isOpen] },
      { $set: { complete: true }, $unset: { split: '', settlesAt: '', changedSince: '' } },
      requestTimeout,
    )
  }
}
