import { GroupCommit, type GroupCommitBounds } from '../db/group-commit.ts'
import type { Follows } from '../follows/follows.ts'
import type { Run } from '../jobs/lease.ts'
import { chunks } from '../lib/batch.ts'
import type { UserId } from '../lib/ids.ts'

/** Readers that one command writes for. */
export const batchSize = 500
/** Readers of a small audience, which shares its command with others: so its own size does not set the cost. */
export const smallMax = 200
/** Batches that are written at the same time. */
const batchesAtOnce = 4
/** How long a job may hold its worker before others get their turn, in milliseconds. */
const sliceMs = 5_000

/** Whether a long job is to let others have their turn. */
export function turn(): () => boolean {
  const until = performance.now() + sliceMs
  return () => performance.now() >= until
}

/** Combines the writes for small audiences: while some are under way, others gather and go together. */
export function together<T>(write: (ops: T[]) => Promise<unknown>) {
  const bounds: GroupCommitBounds = {
    batchMax: 16,
    waitingMax: 20_000,
    waitMsMax: 30_000,
    lingerMs: 0,
    begins: 'AFTER_TURN',
  }
  const run = async (_: string, some: readonly (readonly T[])[]) => {
    await write(some.flat())
    return some.map(() => undefined)
  }
  return new GroupCommit<readonly T[], undefined>(run, bounds)
}

/** How far a walk has come: the last follower done; before the first, the empty text. */
export interface WalkCheckpoint {
  readonly after: string
}

/** Followers read at a time: what bounds the memory of a walk. */
export const windowSize = batchSize * batchesAtOnce

/** Whose followers a job walks. */
interface FollowerWalk {
  readonly follows: Follows
  readonly user: UserId
  readonly run: Pick<Run, 'checkpoint' | 'save' | 'signal'>
}

/** How a walk goes, beyond what it does with each batch. */
interface WalkOptions {
  /** Whether it is somebody else's turn; asked after each window. Default: after five seconds. */
  readonly isOver?: () => boolean
  /** The first window where it was read already, and who is to be served with it. */
  readonly first?: { readonly window: readonly UserId[]; readonly besides: readonly UserId[] }
  /** Is given each window once all its batches have been written, before the checkpoint. False ends the walk. */
  readonly written?: (readers: readonly UserId[]) => Promise<boolean>
}

/**
 * Walks the followers of a user in the order of their handles, from its checkpoint, by windows that bound the memory.
 * One covered command and one to keep the checkpoint for 2,000 followers.
 * @param write is given one batch; several at the same time.
 * @returns 'unfinished' when there is more, and it is somebody else's turn.
 */
export async function walkFollowers(
  { follows, user, run }: FollowerWalk,
  write: (readers: readonly UserId[]) => Promise<void>,
  { isOver = turn(), first, written }: WalkOptions = {},
): Promise<'unfinished' | undefined> {
  let { after } = (run.checkpoint ?? { after: '' }) as WalkCheckpoint
  for (let read = first; ; read = undefined) {
    run.signal.throwIfAborted()
    const window = read?.window ?? (await follows.followersAfter(user, after, windowSize))
    const readers = [...(read?.besides ?? []), ...window]
    await Promise.all([...chunks(readers, batchSize)].map(write))
    if (written && readers.length > 0 && !(await written(readers))) return undefined
    const last = window.at(-1)
    if (last === undefined || window.length < windowSize) return undefined
    after = last
    await run.save({ after } satisfies WalkCheckpoint)
    if (isOver()) return 'unfinished'
  }
}
