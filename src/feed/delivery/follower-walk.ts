import { eachKey, GroupCommit, type GroupCommitBounds } from '../../db/group-commit.ts'
import type { Follows } from '../../follows/follows.ts'
import type { Run } from '../../jobs/lease.ts'
import { chunks } from '../../lib/batch.ts'
import type { UserId } from '../../lib/ids.ts'

/** Number of readers that one command writes for. */
export const batchSize = 500
/** Number of readers up to which an audience is small. Deliveries to small audiences share commands. */
export const smallAudienceMax = 200
/** Number of batches in a window. They are written at the same time. */
const concurrentBatches = 4
/** How long a job may hold its worker while other jobs wait, in milliseconds. */
const timeSliceMs = 5_000

/** Starts a time slice of 5 s. @returns a function that says whether it has ended, and the job yields to others. */
export function timeSlice(): () => boolean {
  const until = performance.now() + timeSliceMs
  return () => performance.now() >= until
}

/** Combines the writes for small audiences. Writes that arrive during a command share the next one. */
export function combineSmallWrites<T>(write: (ops: T[]) => Promise<unknown>) {
  const bounds: GroupCommitBounds = {
    name: 'small_deliveries',
    batchMax: 16,
    waitingMax: 20_000,
    waitMsMax: 30_000,
    lingerMs: 0,
    begins: 'IN_TURNS',
  }
  const commitBatch = async (_: string, batch: readonly (readonly T[])[]) => {
    await write(batch.flat())
    return batch.map(() => undefined)
  }
  return new GroupCommit<readonly T[], undefined>(eachKey(commitBatch), bounds)
}

/** The position of a walk: the handle of its last follower, empty at the start. */
export interface WalkCheckpoint {
  readonly after: string
}

/** Number of followers that a walk reads and holds at a time. */
export const windowSize = batchSize * concurrentBatches

/** The job, and the user whose followers it walks. */
interface FollowerWalk {
  readonly follows: Follows
  readonly user: UserId
  readonly run: Pick<Run, 'checkpoint' | 'save' | 'signal'>
}

/** The optional parts of a walk. */
interface WalkOptions {
  /** Whether the job's time slice has ended. Called after each window. Default: a slice of 5 s. */
  readonly isOver?: () => boolean
  /** The first window, if the caller has read it, and more readers to write for with it. */
  readonly first?: { readonly window: readonly UserId[]; readonly moreReaders: readonly UserId[] }
  /** Receives the readers of a window after all its batches are written, before the checkpoint. False ends the walk. */
  readonly onWindowWritten?: (readers: readonly UserId[]) => Promise<boolean>
}

/**
 * Walks the followers of a user in the order of their handles, from its checkpoint, 2,000 at a time.
 * One covered command and one to save the checkpoint for each 2,000 followers.
 * @param write receives one batch of up to 500 readers. All batches of a window are written at the same time.
 * @returns 'unfinished' if followers are left and the time slice has ended.
 */
export async function walkFollowers(
  { follows, user, run }: FollowerWalk,
  write: (readers: readonly UserId[]) => Promise<void>,
  { isOver = timeSlice(), first, onWindowWritten }: WalkOptions = {},
): Promise<'unfinished' | undefined> {
  let { after } = (run.checkpoint ?? { after: '' }) as WalkCheckpoint
  for (let read = first; ; read = undefined) {
    run.signal.throwIfAborted()
    const window = read?.window ?? (await follows.followersAfter(user, after, windowSize))
    const readers = [...(read?.moreReaders ?? []), ...window]
    await Promise.all([...chunks(readers, batchSize)].map(write))
    if (onWindowWritten && readers.length > 0 && !(await onWindowWritten(readers))) return undefined
    const last = window.at(-1)
    if (last === undefined || window.length < windowSize) return undefined
    after = last
    await run.save({ after } satisfies WalkCheckpoint)
    if (isOver()) return 'unfinished'
  }
}
