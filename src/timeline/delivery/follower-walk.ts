import { eachKey, GroupCommit, type GroupCommitBounds } from '../../db/group-commit.ts'
import type { Follows } from '../../follows/follows.ts'
import type { Run } from '../../jobs/lease.ts'
import type { NewJob } from '../../jobs/outbox.ts'
import {
  cutRanges,
  estimateKeys,
  isSplit,
  type KeyRange,
  type RangeJobs,
} from '../../jobs/ranges.ts'
import type { Pause } from '../../jobs/runner.ts'
import { rangeSliceMs, timeSlice } from '../../jobs/time-slice.ts'
import { chunks } from '../../lib/batch.ts'
import type { UserId } from '../../lib/ids.ts'
import type { UserStats } from '../../users/stats.ts'

/** Number of readers that one command writes for. */
export const batchSize = 500
/**
 * Number of readers up to which an audience is small. Deliveries to small audiences share commands.
 */
export const smallAudienceMax = 200
/** Number of batches in a window. They are written at the same time. */
const concurrentBatches = 4
/**
 * Combines the writes for small audiences. Writes that arrive during a command share the next one.
 */
export function combineSmallWrites<T>(write: (ops: T[]) => Promise<unknown>) {
  const bounds: GroupCommitBounds = {
    name: 'small_deliveries',
    batchMax: 32,
    waitingMax: 20_000,
    waitMsMax: 30_000,
    lingerMs: 0,
  }
  const commitBatch = async (_: string, batch: readonly (readonly T[])[]) => {
    await write(batch.flat())
    return batch.map(() => undefined)
  }
  return new GroupCommit<readonly T[], undefined>(eachKey(commitBatch), bounds)
}

/** The position of a walk: the id of its last follower, empty at the start. */
export interface WalkCheckpoint {
  readonly after: string
}

/** Number of followers that a walk reads and holds at a time. */
export const windowSize = batchSize * concurrentBatches
/** Number of followers from which a walk is split into ranges. */
export const splitMin = 4 * windowSize
const rangesMax = 16

/** How a walk went on: it has followers left, it waits for its ranges, or it has ended. */
export type Walked = 'unfinished' | Pause | undefined

/** Whose followers a job walks. */
interface FollowerWalk {
  readonly user: UserId
  readonly run: Run
  /** The range of a range job. Default: all followers. */
  readonly range?: KeyRange | undefined
  /** The job, which may be split. Default: it is never split. */
  readonly job?: Pick<NewJob, 'kind' | 'payload'> | undefined
  /** The number of followers. Default: one command reads it. */
  readonly followers?: number | undefined
  /** By how much the ranges go before other ranges, in milliseconds. Default: 0. */
  readonly leadMs?: number
}

/** The optional parts of a walk. */
interface WalkOptions {
  /** The first window, if the caller has read it, and more readers to write for with it. */
  readonly first?: { readonly window: readonly UserId[]; readonly moreReaders: readonly UserId[] }
  /**
   * Receives the readers of a window after all its batches are written, before the checkpoint.
   * False ends the walk.
   */
  readonly onWindowWritten?: (readers: readonly UserId[]) => Promise<boolean>
}

/** Walks the followers of users in the order of their ids, 2,000 at a time. */
export class FollowerWalks {
  constructor(
    private readonly follows: Follows,
    private readonly stats: UserStats,
    readonly ranges: RangeJobs,
  ) {}

  /**
   * Walks the followers of a user from the job's checkpoint. One covered command and one to save
   * the checkpoint for each 2,000 followers. If the user has at least 8,000 followers, the job
   * writes the first 2,000 and is split into up to 16 ranges: one command for the count, one for
   * each range, and a transaction of three.
   * @param write receives one batch of up to 500 readers. All batches of a window are written at
   *   the same time.
   */
  async walk(
    { user, run, range, job, followers, leadMs = 0 }: FollowerWalk,
    write: (readers: readonly UserId[]) => Promise<void>,
    { first, onWindowWritten }: WalkOptions = {},
  ): Promise<Walked> {
    const waited = await this.ranges.wait(run)
    if (waited) return waited === 'ended' ? undefined : waited
    const isOver = timeSlice(range && rangeSliceMs)
    let { after } = positionOf(run, range)
    let isSmall = job === undefined
    for (let read = first; ; read = undefined) {
      run.signal.throwIfAborted()
      const window =
        read?.window ?? (await this.follows.followersAfter(user, after, windowSize, range?.upTo))
      const readers = [...(read?.moreReaders ?? []), ...window]
      await Promise.all([...chunks(readers, batchSize)].map(write))
      if (onWindowWritten && readers.length > 0 && !(await onWindowWritten(readers)))
        return undefined
      const last = window.at(-1)
      const isLast = window.length < windowSize || last === range?.upTo
      if (last === undefined || isLast) return undefined
      after = last
      if (job && !isSmall) {
        const ranges = await this.cutFollowers(user, after, followers)
        if (ranges.length > 1) return this.ranges.split(run, job, ranges, { leadMs })
        isSmall = true
      }
      await run.save({ after } satisfies WalkCheckpoint)
      if (isOver()) return range && leadMs > 0 ? { continuesInMs: -leadMs } : 'unfinished'
    }
  }

  /** The number of a user's followers. One command. */
  async countFollowers(user: UserId): Promise<number> {
    return (await this.stats.byIds([user])).get(user)?.followers ?? 0
  }

  /**
   * Cuts all followers of a user without counters into ranges. One command, and about two more for
   * each range.
   */
  async cutAll(user: UserId): Promise<KeyRange[]> {
    return this.cutFollowers(user, '', await estimateKeys(splitMin, this.followersOf(user)))
  }

  /**
   * Cuts the followers after an id into ranges of the same size. One range if there are few
   * followers.
   */
  private async cutFollowers(
    user: UserId,
    after: string,
    counted: number | undefined,
  ): Promise<KeyRange[]> {
    const followers = counted ?? (await this.countFollowers(user))
    if (followers < splitMin) return [{ after }]
    // Full windows, because a window costs as many round trips for few followers as for many.
    const size = windowSize * Math.ceil(followers / rangesMax / windowSize)
    const most = Math.ceil(followers / size)
    return cutRanges(after, { size, rangesMax: most }, this.followersOf(user))
  }

  private followersOf(user: UserId) {
    return (key: string, distance: number) => this.follows.followerAt(user, key, distance)
  }
}

/** Where a walk goes on: at the checkpoint of its job, or at the start of its range. */
export const positionOf = (
  { checkpoint }: Pick<Run, 'checkpoint'>,
  range: KeyRange | undefined,
): WalkCheckpoint =>
  checkpoint === undefined || isSplit(checkpoint)
    ? { after: range?.after ?? '' }
    : (checkpoint as WalkCheckpoint)
