import type { Collections } from '../../db/collections.ts'
import type { Transactions, Tx } from '../../db/transaction.ts'
import type { Follows } from '../../follows/follows.ts'
import type { Run } from '../../jobs/lease.ts'
import type { KeyRange, RangeJobs } from '../../jobs/ranges.ts'
import { rangeSliceMs, timeSlice } from '../../jobs/time-slice.ts'
import type { PostId, UserId } from '../../lib/ids.ts'
import type { EntryReader } from '../entry-reader.ts'
import { backfillKind } from '../registry/backfill-jobs.ts'
import type { Registration, Registry } from '../registry/registry.ts'
import { descriptors, type MaterialisedName } from '../strategies/list.ts'
import { type StoredTimelines, segmentSize } from '../strategies/strategy.ts'
import type { Delivery } from './delivery.ts'
import type { Walked } from './follower-walk.ts'
import type { ReaderWalk } from './reader-walk.ts'
import type { TimelineFiller } from './timeline-filler.ts'

/** Number of readers whose timelines are filled between two checkpoints, at most. */
const checkpointReaders = 200
/**
 * How long the work between two checkpoints may take before the next one gets half as many readers,
 * in milliseconds.
 */
const stepMsMax = 1_000

/** An edge, as a job names it. */
export interface Pair {
  readonly follower: UserId
  readonly followee: UserId
}

/** The payload of the job that back-fills a strategy. */
export interface StrategyFill {
  readonly strategy: MaterialisedName
  readonly epoch: PostId
}

/** The parts that {@link Backfill} works with. */
export interface BackfillParts {
  readonly filler: TimelineFiller
  /**
   * Raises the floors of all registrations, so that nothing is stored that is about to be removed.
   */
  readonly raiseFloors: () => Promise<void>
  readonly registry: Registry
  /** The database's clock, in milliseconds since 1970. */
  readonly now: () => number
  readonly ranges: RangeJobs
  readonly delivery: Delivery
  readonly entries: EntryReader
  readonly follows: Follows
  readonly collections: Pick<Collections, 'user_stats'>
  readonly transactions: Transactions
}

/**
 * Adds earlier posts to timelines, and removes posts that no longer belong there. Every method may
 * be repeated.
 */
export class Backfill {
  constructor(
    private readonly parts: BackfillParts,
    private readonly readers: ReaderWalk,
  ) {}

  /**
   * Merges a new followee's posts into the follower's timelines. Later posts have their own
   * deliveries. The committing process merges 500 posts at most, and workers merge the rest. Five
   * commands and those of the strategies for 500 posts, which jobs that run at the same time share.
   * @returns 'unfinished' if posts are left for the next run of the job.
   */
  async addFollowee({ follower, followee }: Pair, run: Run): Promise<'unfinished' | undefined> {
    const registered = await this.parts.registry.readShared()
    if (registered.size === 0 || !(await this.isEdge({ follower, followee }))) return undefined
    const targets = this.parts.delivery.openTimelines(registered)
    if (targets.length === 0) return undefined
    const isOver = timeSlice()
    let { olderThan } = (run.checkpoint ?? {}) as { olderThan?: PostId }
    for (;;) {
      run.signal.throwIfAborted()
      const segment = await this.parts.entries.loadSegment(followee, olderThan)
      const goesOn = await this.parts.filler.storeSegment(targets, follower, segment)
      if (segment.oldest || !goesOn || targets.every(({ depthMax }) => depthMax < segmentSize))
        return undefined
      olderThan = segment.last as PostId
      await run.save({ olderThan })
      if (run.inline || isOver()) return 'unfinished'
    }
  }

  /**
   * Removes a former followee's posts from the follower's timelines. No page shows the posts, even
   * before. Ends if the edge exists again, because its stored posts belong to the timelines again.
   * For 500 posts, one command to read them, one to save the checkpoint, and one transaction.
   * @returns 'unfinished' if posts are left for the next run of the job.
   */
  async removeFollowee(pair: Pair, run: Run): Promise<'unfinished' | undefined> {
    const registered = await this.parts.registry.readShared()
    const targets = this.parts.delivery.openTimelines(registered)
    if (targets.length === 0) return undefined
    const isOver = timeSlice()
    let { olderThan } = (run.checkpoint ?? {}) as { olderThan?: PostId }
    for (;;) {
      run.signal.throwIfAborted()
      const { entries, oldest, last } = await this.parts.entries.loadSegment(
        pair.followee,
        olderThan,
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
   * @returns false if the edge exists again or the follower has no account. Nothing was removed
   *   then.
   */
  private async removePosts(
    pair: Pair,
    posts: readonly PostId[],
    targets: readonly StoredTimelines[],
  ): Promise<boolean> {
    const { collections, transactions } = this.parts
    return transactions.run(async (tx) => {
      // A new edge changes it too, so the removal and a follow, which adds the posts again,
      // collide.
      const guarded = await collections.user_stats.updateOne(
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
   * Fills the timelines of all readers under a new registration, or of those that an import has
   * changed, in the order of their ids. Ends if it is over. Waits until posts of transactions that
   * do not know the registration are committed. With at least 2,000 readers, the job is split by
   * ranges of readers.
   */
  async fillStrategy(payload: StrategyFill, run: Run): Promise<Walked> {
    const { registry, ranges, raiseFloors, now } = this.parts
    const { strategy: name, epoch } = payload
    const waited = await ranges.wait(run)
    if (waited === 'ended') await registry.markComplete(name, epoch)
    if (waited) return waited === 'ended' ? undefined : waited
    await raiseFloors()
    const registration = await this.findRegistration(payload)
    if (!registration) return undefined
    const continuesInMs = await registry.settle(registration, now())
    if (continuesInMs > 0) return { continuesInMs }
    const job = { kind: backfillKind, payload: { strategy: name, epoch } }
    const open = registration.split ?? []
    if (open.length > 0) {
      const left = open.filter(({ done }) => !done).map(({ after, upTo }) => toRange(after, upTo))
      return ranges.split(run, job, left)
    }
    const { covered, readers } = registration
    const since = registration.changedSince
    const changed = since && { since, total: readers?.total ?? 0 }
    const cut = descriptors[name].backfilled ? await this.readers.cut(covered, changed) : []
    if (cut.length < 2) return this.fillRange(payload, run)
    const write = (tx: Tx) => registry.split(name, epoch, cut, tx)
    return ranges.split(run, job, cut, { write })
  }

  /**
   * Fills the timelines of a range of readers, or of all that are not covered. Ends if the
   * registration is over. Three commands for each 200 readers, and those of
   * {@link TimelineFiller.fillReaders}.
   */
  async fillRange(payload: StrategyFill, run: Run, range?: KeyRange): Promise<Walked> {
    const { registry, filler } = this.parts
    const { strategy: name, epoch } = payload
    const isOver = timeSlice(range && rangeSliceMs)
    let count = checkpointReaders
    for (;;) {
      run.signal.throwIfAborted()
      const begun = performance.now()
      const registration = await this.findRegistration(payload)
      if (!registration) return undefined
      const own = range && registration.split?.find(({ after }) => after === range.after)
      if (range && (!own || own.done)) return undefined
      const { covered } = own ?? registration
      const readers = descriptors[name].backfilled
        ? await this.readers.loadAfter(covered, count, {
            upTo: range?.upTo,
            changedSince: registration.changedSince,
          })
        : []
      await filler.fillReaders(registration, readers, run.signal)
      const [last, isLast] = [readers.at(-1), readers.length < count]
      if (range) {
        const progress = { covered: isLast ? undefined : last, done: readers.length }
        await registry.saveRange(name, epoch, range, progress)
      } else if (last) await registry.saveProgress(name, epoch, last, readers.length)
      if (isLast) {
        if (!range) await registry.markComplete(name, epoch)
        return undefined
      }
      await run.save({ covered: last })
      if (isOver()) return 'unfinished'
      if (performance.now() - begun > stepMsMax) count = Math.ceil(count / 2)
    }
  }

  /** Fills the stored timelines of one reader under all registrations. */
  async refillReader(reader: UserId, signal: AbortSignal): Promise<void> {
    for (const registration of (await this.parts.registry.read()).values()) {
      if (!descriptors[registration._id].backfilled) continue
      await this.parts.filler.fillReaders(registration, [reader], signal)
    }
  }

  private async findRegistration({
    strategy,
    epoch,
  }: StrategyFill): Promise<Registration | undefined> {
    const registration = (await this.parts.registry.read()).get(strategy)
    return registration?.epoch.toHexString() === epoch ? registration : undefined
  }

  private async isEdge({ follower, followee }: Pair, tx?: Tx): Promise<boolean> {
    return (await this.parts.follows.followeesAmong(follower, [followee], undefined, tx)).has(
      followee,
    )
  }
}

const toRange = (after: string, upTo: string | undefined): KeyRange =>
  upTo === undefined ? { after } : { after, upTo }
