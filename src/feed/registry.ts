import type { FeedStrategyName } from '../config.ts'
import { atOnce, bounded } from '../db/client.ts'
import type { Collections, StrategyDoc } from '../db/collections.ts'
import { toObjectId } from '../db/object-id.ts'
import type { PostId, UserId } from '../lib/ids.ts'
import type { MaterialisedName } from './strategies/strategy.ts'

/** Which strategies the database maintains. */
export type Registered = ReadonlyMap<FeedStrategyName, StrategyDoc>

/** The registrations of the strategies that are not being dropped. */
export const maintainedIn = (registered: Registered): StrategyDoc[] =>
  [...registered.values()].filter(({ dropping }) => !dropping)

/** Whether a strategy is registered and not being dropped. */
export const isMaintained = (registered: Registered, name: FeedStrategyName): boolean => {
  const registration = registered.get(name)
  return registration !== undefined && !registration.dropping
}
/** The registrations by name, from all documents of `strategies`. */
export const registeredOf = (docs: readonly StrategyDoc[]): Registered =>
  new Map(docs.map((doc) => [doc._id, doc]))

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
    const registered = registeredOf(await this.strategies.find({}, atOnce).toArray())
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
      bounded,
    )
    return matchedCount === 1
  }

  /** Ends a back-fill: all readers are covered. One command. */
  async complete(name: MaterialisedName, epoch: PostId): Promise<void> {
    const registration = { _id: name, epoch: toObjectId(epoch) }
    await this.strategies.updateOne(registration, { $set: { complete: true } }, bounded)
  }
}
