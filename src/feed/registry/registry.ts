import { requestTimeout, singleBatch } from '../../db/client.ts'
import type {
  Collections,
  CopiedRegistration,
  CoveredRange,
  RegistrationCopyDoc,
  StrategyDoc,
} from '../../db/collections.ts'
import type { Document } from '../../db/mongo.ts'
import { toObjectId } from '../../db/object-id.ts'
import { conforms, shapes } from '../../db/shapes.ts'
import { shareReads } from '../../db/shared-reads.ts'
import type { Tx } from '../../db/transaction.ts'
import type { KeyRange } from '../../jobs/ranges.ts'
import type { PostId, UserId } from '../../lib/ids.ts'
import {
  descriptors,
  type FeedStrategyName,
  type MaterialisedName,
  sharersOf,
} from '../strategies/list.ts'
import { copyIdOf } from './registration-copies.ts'

/** The registration of a strategy. */
export interface Registration extends StrategyDoc {
  readonly _id: MaterialisedName
}

/** The registrations of a database by strategy. */
export type Registered = ReadonlyMap<FeedStrategyName, Registration>

/** The registrations of the strategies that are not being dropped. */
export const maintainedIn = (registered: Registered): Registration[] =>
  [...registered.values()].filter(({ dropping }) => !dropping)

/**
 * The maintained registrations that write and remove entries. If two of them share a collection, and one stores the
 * posts of all authors, only that one writes.
 */
export const writersIn = (registered: Registered): Registration[] => {
  const maintained = maintainedIn(registered)
  const storing = maintained.filter(({ _id }) => descriptors[_id].authors === 'all')
  return maintained.filter(({ _id }) => {
    if (descriptors[_id].authors === 'all') return true
    const sharers = sharersOf(_id)
    return !storing.some((other) => sharers.includes(other._id))
  })
}

/** The registrations by name, from all documents of `strategies`. A malformed one counts as none. */
export const toRegistered = (docs: readonly StrategyDoc[]): Registered =>
  new Map(
    (docs as readonly Registration[])
      .filter((doc) => doc._id in descriptors && conforms(shapes.strategies, doc))
      .map((doc) => [doc._id, doc]),
  )

/** What {@link Registry.lookUp} adds to each document of an aggregate. */
export interface RegistrationRow {
  /** The copy, if it exists. */
  readonly copies: readonly RegistrationCopyDoc[]
  /** All registrations, if this process has found no copy before. */
  readonly strategies?: readonly StrategyDoc[]
}

/** How long pages use the last known progress of a back-fill, in milliseconds. */
const progressAgeMsMax = 1_000

/** A copied registration with the progress that is known. In one epoch, progress never goes back. */
const withProgress = (copied: CopiedRegistration, known: StrategyDoc | undefined): StrategyDoc => {
  if (!known?.epoch.equals(copied.epoch)) return { ...copied, covered: '', complete: false }
  const { covered, complete, split, readers } = known
  return {
    ...copied,
    ...{ covered, complete },
    ...(split ? { split } : {}),
    ...(readers ? { readers } : {}),
  }
}

/** Whether a reader's timeline holds all posts from before the registration. */
export const isBackfilled = (registration: StrategyDoc | undefined, reader: UserId): boolean =>
  registration !== undefined &&
  (registration.complete ||
    reader <= registration.covered ||
    splitRanges(registration).some((range) => isCovered(range, reader)))

const isCovered = ({ after, upTo, covered, done }: CoveredRange, reader: UserId): boolean =>
  reader > after && (done ? upTo === undefined || reader <= upTo : reader <= covered)

/** The ranges that are back-filled separately. */
export const splitRanges = ({ split, epoch }: StrategyDoc): readonly CoveredRange[] =>
  split?.epoch.equals(epoch) ? split.ranges : []

/** Whether two reads saw the same registration, so that a page read under `then` is valid under `now`. */
export const isSameRegistration = (
  then: StrategyDoc | undefined,
  now: StrategyDoc | undefined,
): boolean => then !== undefined && now !== undefined && then.epoch.equals(now.epoch)

/**
 * Reads the registrations. They belong to the database, not to a process: a delivery reads them after its post is
 * committed, and a later registration back-fills that post. So processes with different configurations lose no posts.
 *
 * Pages and deliveries read a copy, see {@link RegistrationCopies}: any copy has what decides them. A delivery reads it
 * after its post is committed, and waits in its read until the shard of the copy shows all that was committed before
 * the post. So if it does not see a registration, the back-fill of the registration sees the post.
 * {@link Registrations} creates and ends registrations.
 */
export class Registry {
  private latest: Registered | undefined
  /** Whether the last read of a copy has found it. */
  private isCopied = true
  private progressDueMs = 0
  private readonly share = shareReads('registrations', ([user]: readonly string[]) =>
    this.readFor(user ?? ''),
  )

  constructor(
    private readonly collections: Pick<Collections, 'strategies' | 'registration_copies'>,
  ) {}

  /** Loads the current registrations with the progress of their back-fills. One command, to one shard. */
  async read(): Promise<Registered> {
    this.progressDueMs = performance.now() + progressAgeMsMax
    this.latest = toRegistered(await this.collections.strategies.find({}, singleBatch).toArray())
    return this.latest
  }

  /** Loads the current registrations, with the known progress, for a page or job of a user. One command. */
  async readFor(user: string): Promise<Registered> {
    if (!this.isCopied) return this.read()
    const _id = copyIdOf(user)
    const copy = await this.collections.registration_copies.findOne({ _id }, requestTimeout)
    return this.accept({ copies: copy ? [copy] : [] })
  }

  /** As {@link readFor}. Concurrent calls share the command. */
  async readShared(user: string): Promise<Registered> {
    return this.share([user])
  }

  /** The stages that make an aggregate read the registrations for a page or job of a user. See {@link accept}. */
  lookUp(user: string): Document[] {
    const { strategies, registration_copies } = this.collections
    const all = (from: { readonly collectionName: string }, match: Document) => ({
      from: from.collectionName,
      pipeline: [{ $match: match }],
    })
    return [
      { $lookup: { ...all(registration_copies, { _id: copyIdOf(user) }), as: 'copies' } },
      ...(this.isCopied ? [] : [{ $lookup: { ...all(strategies, {}), as: 'strategies' } }]),
    ]
  }

  /**
   * The registrations that {@link lookUp} has read, with the known progress. Sends no command, or one if the copy was
   * just deleted.
   */
  async accept({ copies, strategies }: RegistrationRow): Promise<Registered> {
    const copy = copies.find((one) => conforms(shapes.registration_copies, one))
    this.isCopied = copy !== undefined
    if (copy) {
      const known = this.latest
      const docs = copy.registrations.map((one) => {
        const before = known?.get(one._id as MaterialisedName)
        if (!before?.epoch.equals(one.epoch)) this.progressDueMs = 0
        return withProgress(one, before)
      })
      this.latest = toRegistered(docs)
    } else if (strategies) {
      this.progressDueMs = performance.now() + progressAgeMsMax
      this.latest = toRegistered(strategies)
    } else return this.read()
    return this.latest
  }

  /**
   * As {@link lastSeen}, with progress that is at most a second old. While a back-fill runs, one command more each
   * second, whatever number of pages this process serves. One more for a new registration.
   */
  async lastSeenWithProgress(): Promise<Registered> {
    const seen = await this.lastSeen()
    const isOpen = maintainedIn(seen).some(({ complete }) => !complete)
    return isOpen && performance.now() >= this.progressDueMs ? this.read() : seen
  }

  /**
   * The registrations that this process read last. They may be out of date, so callers compare them with a later read.
   * One command if the process has read none.
   */
  async lastSeen(): Promise<Registered> {
    return this.latest ?? this.read()
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
    const { matchedCount } = await this.collections.strategies.updateOne(
      { _id: name, epoch: toObjectId(epoch) },
      { $set: { covered }, $inc: { 'readers.done': done } },
      requestTimeout,
    )
    return matchedCount === 1
  }

  /** Notes the ranges that are back-filled separately, if the registration is not over. One command. */
  async split(
    name: MaterialisedName,
    epoch: PostId,
    ranges: readonly KeyRange[],
    { session }: Tx,
  ): Promise<void> {
    const split = {
      epoch: toObjectId(epoch),
      ranges: ranges.map((range) => ({ ...range, covered: range.after })),
    }
    await this.collections.strategies.updateOne(
      { _id: name, epoch: split.epoch },
      { $set: { split } },
      { session },
    )
  }

  /**
   * Saves the progress of the back-fill of a range. One command.
   * @param covered the last reader whose timeline is filled. Undefined: no reader of the range is left.
   * @param done the number of readers filled since the last call.
   */
  async saveRange(
    name: MaterialisedName,
    epoch: PostId,
    { after }: KeyRange,
    { covered, done }: { readonly covered: UserId | undefined; readonly done: number },
  ): Promise<void> {
    const id = toObjectId(epoch)
    await this.collections.strategies.updateOne(
      { _id: name, epoch: id, 'split.epoch': id, 'split.ranges.after': after },
      {
        // A worker that has lost its lease never moves the position back.
        ...(covered === undefined
          ? { $set: { 'split.ranges.$.done': true } }
          : { $max: { 'split.ranges.$.covered': covered } }),
        $inc: { 'readers.done': done },
      },
      requestTimeout,
    )
  }

  /**
   * Marks a registration as covering all readers. Changes nothing if it is over, or if one of its ranges is not done.
   * The next page of this process sees it. One command.
   */
  async markComplete(name: MaterialisedName, epoch: PostId): Promise<void> {
    const id = toObjectId(epoch)
    const isOpen = {
      'split.epoch': id,
      'split.ranges': { $elemMatch: { done: { $exists: false } } },
    }
    await this.collections.strategies.updateOne(
      { _id: name, epoch: id, $nor: [isOpen] },
      { $set: { complete: true }, $unset: { split: '' } },
      requestTimeout,
    )
    this.progressDueMs = 0
  }
}
