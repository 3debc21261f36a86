import { singleBatch } from '../../db/client.ts'
import type { Collections } from '../../db/collections.ts'
import type { Transactions, Tx } from '../../db/transaction.ts'
import type { Follows } from '../../follows/follows.ts'
import type { Run } from '../../jobs/lease.ts'
import { chunks } from '../../lib/batch.ts'
import type { PostId, UserId } from '../../lib/ids.ts'
import type { EntryReader } from '../entry-reader.ts'
import type { Registration, Registry } from '../registry/registry.ts'
import type { FanoutOnRead } from '../strategies/fanout-on-read.ts'
import { type AuthorFilters, descriptors, type MaterialisedName } from '../strategies/list.ts'
import type { Segment, StoredTimelines } from '../strategies/strategy.ts'
import type { Delivery } from './delivery.ts'
import { timeSlice } from './follower-walk.ts'

/** Number of posts that are added to, or removed from, a timeline at a time. */
const segmentSize = 500
/** Number of readers whose timelines are filled between two checkpoints. */
const checkpointReaders = 20
/** Number of readers whose timelines are filled at the same time. */
export const concurrentReaders = 4

/** An edge, as a job names it. */
export interface Pair {
  readonly follower: UserId
  readonly followee: UserId
}

/** The parts that {@link Backfill} works with. */
export interface BackfillParts {
  readonly filters: AuthorFilters
  readonly registry: Registry
  readonly delivery: Delivery
  readonly entries: EntryReader
  readonly follows: Follows
  readonly fanoutOnRead: FanoutOnRead
}

/** Adds earlier posts to timelines, and removes posts that no longer belong there. Every method may be repeated. */
export class Backfill {
  constructor(
    private readonly parts: BackfillParts,
    private readonly stats: Collections['user_stats'],
    private readonly transactions: Transactions,
  ) {}

  /**
   * Merges a new followee's posts into the follower's timelines. Later posts have their own deliveries.
   * The committing process merges 500 posts at most, and workers merge the rest.
   * @returns 'unfinished' if posts are left for the next run of the job.
   */
  async addFollowee({ follower, followee }: Pair, run: Run): Promise<'unfinished' | undefined> {
    const registered = await this.parts.registry.read()
    if (registered.size === 0 || !(await this.isEdge({ follower, followee }))) return undefined
    const targets = await this.parts.delivery.selectTargets(followee, registered)
    for (const { _id } of registered.values()) {
      await this.parts.filters.get(_id)?.noteFollow(follower, followee)
    }
    const isOver = timeSlice()
    let { olderThan } = (run.checkpoint ?? {}) as { olderThan?: PostId }
    for (;;) {
      run.signal.throwIfAborted()
      const segment = await this.parts.entries.loadSegment(followee, olderThan, segmentSize)
      await this.storeSegment(targets, follower, segment)
      if (segment.oldest || targets.every(({ depthMax }) => depthMax < segmentSize))
        return undefined
      olderThan = segment.last as PostId
      await run.save({ olderThan })
      if (run.inline || isOver()) return 'unfinished'
    }
  }

  /**
   * Removes a former followee's posts from the follower's timelines. No page shows the posts, even before.
   * Ends if the edge exists again, because its stored posts belong to the timelines again.
   * For 500 posts, one command to read them, one to save the checkpoint, and one transaction.
   * @returns 'unfinished' if posts are left for the next run of the job.
   */
  async removeFollowee(pair: Pair, run: Run): Promise<'unfinished' | undefined> {
    const registered = await this.parts.registry.read()
    const targets = this.parts.delivery.openTimelines(registered)
    if (targets.length === 0) return undefined
    const isOver = timeSlice()
    let { olderThan } = (run.checkpoint ?? {}) as { olderThan?: PostId }
    olderThan ??= await this.parts.delivery.firstUnstoredId(pair.followee, registered)
    for (;;) {
      run.signal.throwIfAborted()
      const { entries, oldest, last } = await this.parts.entries.loadSegment(
        pair.followee,
        olderThan,
        segmentSize,
      )
      const posts = entries.map(({ id }) => id)
      const isEnded = posts.length === 0 || (await this.removePosts(pair, posts, targets))
      if (oldest || !isEnded) return undefined
      olderThan = last as PostId
      await run.save({ olderThan })
      if (isOver()) return 'unfinished'
    }
  }

  /**
   * Removes posts from the follower's timelines in one transaction, unless the edge exists again.
   * The transaction raises the follower's `guard`, as every new edge does. So it collides with a new edge.
   * @returns false if the edge exists again or the follower has no account. Nothing was removed then.
   */
  private async removePosts(
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
      for (const strategy of targets) await strategy.remove([pair.follower], posts, tx)
      return true
    })
  }

  /**
   * Fills the timelines of all readers under a new registration, in the order of their handles. Ends if it is over.
   * @returns 'unfinished' if readers are left for the next run of the job.
   */
  async fillStrategy(
    { strategy: name, epoch }: { strategy: MaterialisedName; epoch: PostId },
    run: Run,
  ): Promise<'unfinished' | undefined> {
    const isOver = timeSlice()
    for (;;) {
      run.signal.throwIfAborted()
      const registration = (await this.parts.registry.read()).get(name)
      if (registration?.epoch.toHexString() !== epoch) return undefined
      const { backfilled } = descriptors[name]
      const readers = backfilled ? await this.loadReadersAfter(registration.covered) : []
      for (const batch of chunks(readers, concurrentReaders)) {
        await Promise.all(batch.map((reader) => this.fillReader(registration, reader, run.signal)))
      }
      const last = readers.at(-1)
      if (last) await this.parts.registry.saveProgress(name, epoch, last, readers.length)
      if (readers.length < checkpointReaders) {
        await this.parts.registry.markComplete(name, epoch)
        return undefined
      }
      await run.save({ covered: last })
      if (isOver()) return 'unfinished'
    }
  }

  /** Fills the stored timelines of one reader under all registrations. */
  async refillReader(reader: UserId, signal: AbortSignal): Promise<void> {
    for (const registration of (await this.parts.registry.read()).values()) {
      if (!descriptors[registration._id].backfilled) continue
      await this.fillReader(registration, reader, signal)
    }
  }

  /** Adds all posts of an author to one reader's timeline. For 500 posts, two commands and those of the strategy. */
  async addPosts(
    strategy: StoredTimelines,
    reader: UserId,
    author: UserId,
    signal: AbortSignal,
  ): Promise<void> {
    let olderThan: PostId | undefined
    for (;;) {
      signal.throwIfAborted()
      const segment = await this.parts.entries.loadSegment(author, olderThan, segmentSize)
      await this.storeSegment([strategy], reader, segment)
      if (segment.oldest) return
      olderThan = segment.last
    }
  }

  /**
   * Adds a segment to a reader's timelines, then removes the posts that were deleted since the segment was read.
   * Their retraction may have passed the reader before. One covered command and those of the strategies.
   */
  private async storeSegment(
    targets: readonly StoredTimelines[],
    reader: UserId,
    segment: Segment,
  ): Promise<void> {
    await Promise.all(targets.map((strategy) => strategy.merge(reader, segment)))
    const gone = await this.parts.entries.findDeleted(segment.entries)
    if (gone.length === 0) return
    await Promise.all(targets.map((strategy) => strategy.remove([reader], gone)))
  }

  /** Adds all posts of a reader's timeline by the authors whose posts the strategy stores. */
  private async fillReader(
    registration: Registration,
    reader: UserId,
    signal: AbortSignal,
  ): Promise<void> {
    const { delivery, filters, follows } = this.parts
    const strategy = delivery.openTimeline(registration)
    const filter = filters.get(registration._id)
    const excludedAuthors = (await filter?.noteFollowees(reader, follows)) ?? new Set<UserId>()
    let olderThan: PostId | undefined
    for (;;) {
      signal.throwIfAborted()
      const range = { olderThan, oldestFirst: false, limit: segmentSize }
      const { entries: refs } = await this.parts.fanoutOnRead.proposeCandidates({
        reader,
        range,
        group: undefined,
        excludedAuthors,
      })
      const segment = await this.parts.entries.toSegment(refs, olderThan, segmentSize)
      await this.storeSegment([strategy], reader, segment)
      if (segment.oldest) return
      olderThan = segment.last
    }
  }

  private async loadReadersAfter(handle: string): Promise<UserId[]> {
    const found = await this.stats
      .find({ _id: { $gt: handle } }, { ...singleBatch, projection: { _id: 1 } })
      .sort({ _id: 1 })
      .limit(checkpointReaders)
      .toArray()
    return found.map(({ _id }) => _id as UserId)
  }

  private async isEdge({ follower, followee }: Pair, tx?: Tx): Promise<boolean> {
    return (await this.parts.follows.followeesAmong(follower, [followee], undefined, tx)).has(
      followee,
    )
  }
}
