import { requestTimeout, singleBatch } from '../db/client.ts'
import type { Collections, StrategyDoc } from '../db/collections.ts'
import { toObjectId } from '../db/object-id.ts'
import type { PostId, UserId } from '../lib/ids.ts'
import {
  descriptors,
  type FeedStrategyName,
  type MaterialisedName,
  sharersOf,
} from './strategies/list.ts'

/** The registration of a strategy. */
export interface Registration extends StrategyDoc {
  readonly _id: MaterialisedName
}

/** Which strategies the database maintains. */
export type Registered = ReadonlyMap<FeedStrategyName, Registration>

/** The registrations of the strategies that are not being dropped. */
export const maintainedIn = (registered: Registered): Registration[] =>
  [...registered.values()].filter(({ dropping }) => !dropping)

/**
 * The maintained registrations that write and remove entries. A strategy that stores the posts of some authors is left
 * out while one that stores those of all authors is maintained in the same collection: the other writes for both.
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

/** The registrations by name, from all documents of `strategies`. */
export const registeredOf = (docs: readonly StrategyDoc[]): Registered =>
  new Map((docs as readonly Registration[]).map((doc) => [doc._id, doc]))

/** Whether a reader's timeline holds all that was posted before the registration. */
export const covers = (registration: StrategyDoc | undefined, reader: UserId): boolean =>
  registration !== undefined && (registration.complete || reader <= registration.covered)

/** Whether what was read under `then` is what would be read under `now`. */
export const isSame = (then: StrategyDoc | undefined, now: StrategyDoc | undefined): boolean =>
  then !== undefined && now !== undefined && then.epoch.equals(now.epoch)

/**
 * The strategies that deliveries go to. It is the database that maintains them, not a process: a delivery reads the
 * registrations afresh after its post is committed, and one that was registered later back-fills that post. So
 * processes whose configurations differ lose nothing for each other. {@link Registrations} makes and ends them.
 */
export class Registry {
  private latest: Registered | undefined

  constructor(private readonly strategies: Collections['strategies']) {}

  /** The registrations as they are now. One command. */
  async read(): Promise<Registered> {
    const registered = registeredOf(await this.strategies.find({}, singleBatch).toArray())
    this.update(registered)
    return registered
  }

  /** Keeps registrations that another command of this process has just read. */
  update(registered: Registered): void {
    this.latest = registered
  }

  /** The registrations as they were last seen here: whoever relies on them compares with what is so afterwards. */
  async lastSeen(): Promise<Registered> {
    return this.latest ?? this.read()
  }

  /** Keeps how far a back-fill has come. @returns false when its registration is over. One command. */
  async advance(
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

  /** Ends a back-fill: all readers are covered. One command. */
  async complete(name: MaterialisedName, epoch: PostId): Promise<void> {
    const registration = { _id: name, epoch: toObjectId(epoch) }
    await this.strategies.updateOne(registration, { $set: { complete: true } }, requestTimeout)
  }
}
