import { isDeepStrictEqual } from 'node:util'
import { ConfigError, type FeedStrategyName } from '../config.ts'
import { atOnce, bounded } from '../db/client.ts'
import type { Collections, StrategyDoc } from '../db/collections.ts'
import { toObjectId } from '../db/object-id.ts'
import type { Transactions } from '../db/transaction.ts'
import type { Outbox } from '../jobs/outbox.ts'
import type { IdMint, PostId, UserId } from '../lib/ids.ts'
import type { MaterialisedName, MaterialisedStrategy } from './strategy.ts'

/** Which strategies the database maintains. */
export type Registered = ReadonlyMap<FeedStrategyName, StrategyDoc>

/** Whether a reader's timeline holds all that was posted before the registration. */
export const covers = (registration: StrategyDoc | undefined, reader: UserId): boolean =>
  registration !== undefined && (registration.complete || reader <= registration.covered)

/** Whether what was read under `then` is what would be read under `now`. */
export const isSame = (then: StrategyDoc | undefined, now: StrategyDoc | undefined): boolean =>
  then !== undefined && now !== undefined && then.epoch.equals(now.epoch)

/**
 * The strategies that deliveries go to. It is the database that maintains them, not a process: a delivery reads the
 * registrations afresh after its post is committed, and one that was registered later back-fills that post. So
 * processes whose configurations differ lose nothing for each other.
 */
export class Registry {
  private latest: Registered | undefined

  constructor(
    private readonly collections: Pick<Collections, 'strategies' | 'user_stats'>,
    private readonly outbox: Outbox,
    private readonly transactions: Transactions,
    private readonly mint: IdMint,
  ) {}

  /** The registrations as they are now. One command. */
  async read(): Promise<Registered> {
    return this.accept(await this.collections.strategies.find({}, atOnce).toArray())
  }

  /** Takes over registrations that somebody else read. */
  accept(docs: readonly StrategyDoc[]): Registered {
    const registered = new Map(docs.map((doc) => [doc._id, doc]))
    this.latest = registered
    return registered
  }

  /** The registrations as they were last seen here: whoever relies on them compares with what is so afterwards. */
  async lastSeen(): Promise<Registered> {
    return this.latest ?? this.read()
  }

  /**
   * Has the database maintain a strategy from now on; readers are covered one by one by a job. A repeat changes nothing.
   * @throws {ConfigError} when what is stored depends on options that are others now, or is being dropped.
   */
  async register(
    name: MaterialisedName,
    { options, backfilled }: MaterialisedStrategy,
  ): Promise<void> {
    const { strategies, user_stats } = this.collections
    await this.transactions.run(async (tx) => {
      const found = await strategies.findOne({ _id: name }, { session: tx.session })
      if (found?.dropping) {
        throw new ConfigError([
          `${name} is being dropped: wait, or repeat "feedline timelines drop"`,
        ])
      }
      if (found && !isDeepStrictEqual(found.options, { ...options }))
        throw otherOptions(found, options)
      if (found) return
      const epoch = this.mint.next<PostId>()
      const total = await user_stats.countDocuments({}, { session: tx.session })
      await strategies.insertOne(
        {
          _id: name,
          epoch: toObjectId(epoch),
          covered: '',
          complete: !backfilled || total === 0,
          readers: { done: 0, total },
          options: { ...options },
        },
        { session: tx.session },
      )
      if (backfilled && total > 0) await this.promise(tx, name, epoch)
    })
    await this.read()
  }

  /** Keeps how far a back-fill has come. @returns false when its registration is over. One command. */
  async advance(
    name: MaterialisedName,
    epoch: PostId,
    covered: UserId,
    done: number,
  ): Promise<boolean> {
    const { matchedCount } = await this.collections.strategies.updateOne(
      { _id: name, epoch: toObjectId(epoch) },
      { $set: { covered }, $inc: { 'readers.done': done } },
      bounded,
    )
    return matchedCount === 1
  }

  /** Ends a back-fill: all readers are covered. One command. */
  async complete(name: MaterialisedName, epoch: PostId): Promise<void> {
    const registration = { _id: name, epoch: toObjectId(epoch) }
    await this.collections.strategies.updateOne(registration, { $set: { complete: true } }, bounded)
  }

  /**
   * Ends a registration: pages come from FANOUT_ON_READ at once, and nothing is delivered any more once `remove` has
   * removed what is stored. A drop that was cut off goes on when it is repeated.
   * @returns false when there was none.
   */
  async drop(name: MaterialisedName, remove: () => Promise<void>): Promise<boolean> {
    const { strategies } = this.collections
    const epoch = toObjectId(this.mint.next<PostId>())
    const { matchedCount } = await strategies.updateOne(
      { _id: name },
      { $set: { epoch, covered: '', complete: false, dropping: true } },
      bounded,
    )
    if (matchedCount === 0) return false
    await remove()
    await strategies.deleteOne({ _id: name, dropping: true }, bounded)
    return true
  }

  /** Has all pages come from FANOUT_ON_READ, until {@link resume}: posts and edges are about to come that no job tells of. */
  async suspend(): Promise<void> {
    const uncovered = { complete: false, covered: '', epoch: toObjectId(this.mint.next<PostId>()) }
    await this.collections.strategies.updateMany({}, { $set: uncovered }, bounded)
  }

  /** Back-fills these strategies anew; those that are not registered are passed over. */
  async resume(names: Iterable<FeedStrategyName>): Promise<void> {
    const { strategies, user_stats } = this.collections
    for (const name of names) {
      if (name === 'FANOUT_ON_READ') continue
      await this.transactions.run(async (tx) => {
        const epoch = this.mint.next<PostId>()
        const total = await user_stats.countDocuments({}, { session: tx.session })
        const anew = { epoch: toObjectId(epoch), covered: '', complete: false, 'readers.done': 0 }
        const { matchedCount } = await strategies.updateOne(
          { _id: name, dropping: { $exists: false } },
          { $set: { ...anew, 'readers.total': total } },
          { session: tx.session },
        )
        if (matchedCount === 1) await this.promise(tx, name, epoch)
      })
    }
  }

  private async promise(
    tx: Parameters<Outbox['append']>[0],
    strategy: MaterialisedName,
    epoch: PostId,
  ): Promise<void> {
    await this.outbox.append(tx, 'strategy.backfill', { strategy, epoch }, { lane: 'BULK' })
  }
}

const variables: Readonly<Record<string, string>> = {
  periodMs: 'TIME_BUCKET_DAYS',
  size: 'CACHE_SIZE',
}

function otherOptions(found: StrategyDoc, options: Readonly<Record<string, number>>): ConfigError {
  const named = (of: Readonly<Record<string, number>>) =>
    Object.entries(of)
      .map(([name, value]) => `${name} ${value}`)
      .join(', ')
  return new ConfigError([
    `${Object.keys(options)
      .map((name) => variables[name] ?? name)
      .join(
        ', ',
      )}: this database keeps ${found._id} with ${named(found.options)}, not ${named(options)}; ` +
      `set it back, or drop what is kept with "feedline timelines drop ${found._id}"`,
  ])
}
