import { singleBatch } from '../db/client.ts'
import type { Collections } from '../db/collections.ts'
import type { Transactions, Tx } from '../db/transaction.ts'
import type { Follows } from '../follows/follows.ts'
import type { Run } from '../jobs/lease.ts'
import { chunks } from '../lib/batch.ts'
import type { PostId, UserId } from '../lib/ids.ts'
import { turn, walkFollowers } from './audience.ts'
import type { Celebrities } from './celebrities.ts'
import type { Delivery } from './delivery.ts'
import type { EntryReader } from './entry-reader.ts'
import type { PulledAuthors } from './pulled-authors.ts'
import type { Registration, Registry } from './registry.ts'
import type { FanoutOnRead } from './strategies/fanout-on-read.ts'
import {
  type AuthorFilters,
  type ByStrategy,
  descriptors,
  type MaterialisedName,
} from './strategies/list.ts'
import {
  type MaterialisedStrategy,
  type StoredTimelines,
  type Stretch,
  under,
} from './strategies/strategy.ts'

/** Posts that are added to, or taken out of, a timeline at a time. */
const stretchSize = 500
/** Readers whose timelines are filled between two checkpoints, and at the same time. */
const [readersAtOnce, readersTogether] = [20, 4]

/** Follow edge, as a job names it. */
export interface Pair {
  readonly follower: UserId
  readonly followee: UserId
}

/** What a back-fill reads from and writes to. */
export interface BackfillParts {
  readonly strategies: ByStrategy<MaterialisedStrategy>
  readonly filters: AuthorFilters
  readonly registry: Registry
  readonly delivery: Delivery
  readonly entries: EntryReader
  readonly follows: Follows
  readonly celebrities: Celebrities
  readonly pulled: PulledAuthors
  readonly oracle: FanoutOnRead
}

/** Adds what was posted before to timelines, and takes out what no longer belongs there. */
export class Backfill {
  constructor(
    private readonly parts: BackfillParts,
    private readonly stats: Collections['user_stats'],
    private readonly transactions: Transactions,
  ) {}

  /**
   * Merges a followee's posts into the follower's timelines. The edge is there already, so that a post which is not is
   * delivered by its own job. Runs inline for 500 posts; the rest is a worker's.
   */
  async followed({ follower, followee }: Pair, run: Run): Promise<'unfinished' | undefined> {
    const registered = await this.parts.registry.read()
    if (registered.size === 0 || !(await this.isEdge({ follower, followee }))) return undefined
    const targets = await this.parts.delivery.targetsOf(followee, registered)
    for (const { _id } of registered.values()) {
      await this.parts.filters.get(_id)?.noteFollow(follower, followee)
    }
    const isOver = turn()
    let { olderThan } = (run.checkpoint ?? {}) as { olderThan?: PostId }
    for (;;) {
      run.signal.throwIfAborted()
      const stretch = await this.parts.entries.stretch(followee, olderThan, stretchSize)
      await this.store(targets, follower, stretch)
      if (stretch.oldest || targets.every(({ depthMax }) => depthMax < stretchSize))
        return undefined
      olderThan = stretch.last as PostId
      await run.save({ olderThan })
      if (run.inline || isOver()) return 'unfinished'
    }
  }

  /**
   * Takes a former followee's posts out of the follower's timelines, where they do not show any more.
   * Ends as soon as the edge is back: from then on what is stored belongs there.
   * For 500 posts, one command to read them, one to keep the checkpoint, and one transaction.
   */
  async unfollowed(pair: Pair, run: Run): Promise<'unfinished' | undefined> {
    const registered = await this.parts.registry.read()
    const targets = this.parts.delivery.allOf(registered)
    if (targets.length === 0) return undefined
    const isOver = turn()
    let { olderThan } = (run.checkpoint ?? {}) as { olderThan?: PostId }
    olderThan ??= await this.parts.delivery.unstoredFrom(pair.followee, registered)
    for (;;) {
      run.signal.throwIfAborted()
      const { entries, oldest, last } = await this.parts.entries.stretch(
        pair.followee,
        olderThan,
        stretchSize,
      )
      const posts = entries.map(({ id }) => id)
      const isEnded = posts.length === 0 || (await this.removeFormer(pair, posts, targets))
      if (oldest || !isEnded) return undefined
      olderThan = last as PostId
      await run.save({ olderThan })
      if (isOver()) return 'unfinished'
    }
  }

  /**
   * Removes posts from the follower's timelines if the edge is gone, in one transaction. It raises the follower's guard
   * as every new edge does, so that no edge begins between the look and the removal, however late this runs.
   * @returns false if the edge is back, or the follower has no account; nothing was removed.
   */
  private async removeFormer(
    pair: Pair,
    posts: readonly PostId[],
    targets: readonly StoredTimelines[],
  ): Promise<boolean> {
    return this.transactions.run(async (tx) => {
      const guarded = await this.stats.updateOne(
        { _id: pair.follower },
        { $inc: { guard: 1 } },
        { session: tx.session },
      )
      if (guarded.matchedCount === 0 || (await this.isEdge(pair, tx))) return false
      for (const strategy of targets) await strategy.forget([pair.follower], posts, tx)
      return true
    })
  }

  /** Fills the timelines of all readers under a new registration, in the order of their handles. */
  async register(
    { strategy: name, epoch }: { strategy: MaterialisedName; epoch: PostId },
    run: Run,
  ): Promise<'unfinished' | undefined> {
    const isOver = turn()
    for (;;) {
      run.signal.throwIfAborted()
      const registration = (await this.parts.registry.read()).get(name)
      if (registration?.epoch.toHexString() !== epoch) return undefined
      const { backfilled } = descriptors[name]
      const readers = backfilled ? await this.readersAfter(registration.covered) : []
      for (const some of chunks(readers, readersTogether)) {
        await Promise.all(some.map((reader) => this.fill(registration, reader, run.signal)))
      }
      const last = readers.at(-1)
      if (last) await this.parts.registry.advance(name, epoch, last, readers.length)
      if (readers.length < readersAtOnce) {
        await this.parts.registry.complete(name, epoch)
        return undefined
      }
      await run.save({ covered: last })
      if (isOver()) return 'unfinished'
    }
  }

  /** Fills all timelines of one reader anew, as far as they are kept. */
  async refill(reader: UserId, signal: AbortSignal): Promise<void> {
    for (const registration of (await this.parts.registry.read()).values()) {
      if (!descriptors[registration._id].backfilled) continue
      await this.fill(registration, reader, signal)
    }
  }

  /** Notes an author with all followers, and the author; then the author's posts are read alone. One command for 500 followers. */
  async promote(
    { author, promotion }: { author: UserId; promotion: string },
    run: Run,
  ): Promise<'unfinished' | undefined> {
    const { celebrities, pulled, follows } = this.parts
    if (!(await celebrities.isChanging(author, 'promoting', promotion))) return undefined
    const note = async (readers: readonly UserId[]) => pulled.add(readers, [author])
    await note([author])
    const left = await walkFollowers({ follows, user: author, run }, note)
    if (!left) await celebrities.promoted(author, promotion)
    return left
  }

  /** Delivers what was left out while an author was read, to all followers; then the author is delivered again alone. */
  async fall(
    { author, fall }: { author: UserId; fall: string },
    run: Run,
  ): Promise<'unfinished' | undefined> {
    if (!(await this.parts.celebrities.isChanging(author, 'falling', fall))) return undefined
    const registration = (await this.parts.registry.read()).get('HYBRID')
    if (registration) {
      const HYBRID = under(this.parts.strategies.HYBRID, registration)
      const walk = { follows: this.parts.follows, user: author, run }
      const left = await walkFollowers(walk, async (readers) => {
        // An author who rose again is read: what this run still stored would be known to nobody.
        if (!(await this.parts.celebrities.isChanging(author, 'falling', fall))) return
        for (const some of chunks(readers, readersTogether)) {
          await Promise.all(some.map((reader) => this.add(HYBRID, reader, author, run.signal)))
        }
      })
      if (left) return left
      await this.add(HYBRID, author, author, run.signal)
    }
    await this.parts.celebrities.fallen(author, fall)
    return undefined
  }

  /** All of an author's posts into one reader's timeline. */
  private async add(
    strategy: StoredTimelines,
    reader: UserId,
    author: UserId,
    signal: AbortSignal,
  ): Promise<void> {
    let olderThan: PostId | undefined
    for (;;) {
      signal.throwIfAborted()
      const stretch = await this.parts.entries.stretch(author, olderThan, stretchSize)
      await this.store([strategy], reader, stretch)
      if (stretch.oldest) return
      olderThan = stretch.last
    }
  }

  /**
   * Adds a stretch to a reader's timelines. A post that was deleted since the stretch was read is taken out again: the
   * walk of its deletion may have passed the reader before. One covered command beside those of the strategies.
   */
  private async store(
    targets: readonly StoredTimelines[],
    reader: UserId,
    stretch: Stretch,
  ): Promise<void> {
    await Promise.all(targets.map((strategy) => strategy.merge(reader, stretch)))
    const gone = await this.parts.entries.deleted(stretch.entries)
    if (gone.length === 0) return
    await Promise.all(targets.map((strategy) => strategy.forget([reader], gone)))
  }

  /** All that a reader's timeline holds now, by the authors whose posts the strategy stores. */
  private async fill(
    registration: Registration,
    reader: UserId,
    signal: AbortSignal,
  ): Promise<void> {
    const { strategies, filters, follows } = this.parts
    const strategy = under(strategies[registration._id], registration)
    const filter = filters.get(registration._id)
    const refused = (await filter?.noteFollowed(reader, follows)) ?? new Set<UserId>()
    let olderThan: PostId | undefined
    for (;;) {
      signal.throwIfAborted()
      const range = { olderThan, oldestFirst: false, limit: stretchSize }
      const { entries: refs } = await this.parts.oracle.candidates({
        reader,
        range,
        group: undefined,
        refused,
      })
      const stretch = await this.parts.entries.stretchOf(refs, olderThan, stretchSize)
      await this.store([strategy], reader, stretch)
      if (stretch.oldest) return
      olderThan = stretch.last
    }
  }

  private async readersAfter(handle: string): Promise<UserId[]> {
    const found = await this.stats
      .find({ _id: { $gt: handle } }, { ...singleBatch, projection: { _id: 1 } })
      .sort({ _id: 1 })
      .limit(readersAtOnce)
      .toArray()
    return found.map(({ _id }) => _id as UserId)
  }

  private async isEdge({ follower, followee }: Pair, tx?: Tx): Promise<boolean> {
    return (await this.parts.follows.followeesAmong(follower, [followee], undefined, tx)).has(
      followee,
    )
  }
}
