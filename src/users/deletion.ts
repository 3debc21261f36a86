import type { Tx } from '../db/transaction.ts'
import type { Run } from '../jobs/lease.ts'
import type { NewJob } from '../jobs/outbox.ts'
import { isSplit, type KeyRange, type RangeJobs, rangeKind } from '../jobs/ranges.ts'
import type { Pause, Task } from '../jobs/runner.ts'
import type { PostId, UserId } from '../lib/ids.ts'
import type { Users } from './users.ts'

/** Watches and ends a removal in batches. */
export interface RemovalRun {
  readonly signal: AbortSignal
  /** Called after each batch with the number of removed documents. */
  readonly onRemoved: (count: number) => Promise<void>
}

/**
 * A try to remove what a deleted account left. No other account ever has its id, so a worker that
 * was held up for longer than its lease does no harm.
 */
export interface Removal extends RemovalRun {
  /** Whether no write of the account that began before its deletion is still under way. */
  readonly isSettled: boolean
}

/** A removal that may be split by ranges of the account's followers. */
export interface SplitRemoval extends Removal {
  /** Cuts the account's followers into ranges. */
  readonly cutFollowers: () => Promise<readonly KeyRange[]>
  /**
   * Posts that were removed, and whose retraction begins again, because an operator dropped a part
   * of it.
   */
  readonly retractsAgain: readonly PostId[]
  /**
   * Inserts a range job for each range, in one transaction with `posts.remove`. The next try begins
   * after all of them ended.
   * @param posts what the range jobs retract. Without posts, they remove the followers' edges.
   * @returns what the step returns, so that this try ends.
   */
  readonly split: (
    ranges: readonly KeyRange[],
    posts?: { readonly ids: readonly PostId[]; readonly remove: (tx: Tx) => Promise<void> },
  ) => Promise<Pause>
}

/**
 * When a feature removes what it stores of an account, in this order: what followers received,
 * while the edges name them; then the edges; then all else.
 */
export const removalPhases = ['delivered', 'edges', 'rest'] as const
export type RemovalPhase = (typeof removalPhases)[number]

/**
 * Removes what one feature stores of an account. @returns a pause if it was split, and goes on in
 * the next try.
 */
export type RemovalStep = (user: UserId, removal: SplitRemoval) => Promise<Pause | undefined>

/** What an account deletion works with. */
export interface DeletionParts {
  readonly users: Users
  readonly ranges: RangeJobs
  /** Run in this order. A repeat goes on where the last try ended. */
  readonly steps: readonly RemovalStep[]
  /** Cuts the followers of an account into ranges. */
  cutFollowers(user: UserId): Promise<readonly KeyRange[]>
  /** The work of range jobs. A repeat goes on where the last try ended. */
  readonly ofFollowers: {
    retract(user: UserId, posts: readonly PostId[], run: Run, range: KeyRange): ReturnType<Task>
    removeEdges(user: UserId, run: RemovalRun, range: KeyRange): Promise<'unfinished' | undefined>
  }
}

/** The kind of the job that ends a deleted account. Persisted. */
export const deletionKind = 'user.deleted'
const kind = deletionKind

/**
 * The tasks that end a deleted account: remove what is left of it, at once and again when its last
 * writes are settled. Then they free its handles and its subject. The followers of an account with
 * many are walked by range jobs.
 */
export const deletionTasks = (parts: DeletionParts) => ({
  [kind]: deleteAccount(parts),
  [rangeKind(kind)]: parts.ranges.createTask(async ({ user: given, posts }, run, range) => {
    const { ofFollowers } = parts
    const user = given as UserId
    if (posts !== undefined) return ofFollowers.retract(user, posts as PostId[], run, range)
    return ofFollowers.removeEdges(user, toRemovalRun(run), range)
  }),
})

const deleteAccount =
  (parts: DeletionParts): Task =>
  async ({ user: given }, run) => {
    const { users, ranges, steps } = parts
    const user = given as UserId
    const waited = await ranges.wait(run)
    if (waited === 'ended') return ranges.leave(run, 'BULK')
    if (waited) return waited
    const retractsAgain = isSplit(run.checkpoint) ? postsOf(run.checkpoint) : []
    // An operator dropped a range of the edges. What is left may be too little for another split.
    if (isSplit(run.checkpoint) && retractsAgain.length === 0) return ranges.leave(run, 'BULK')
    const settlesInMs = await users.settle(user)
    if (settlesInMs === undefined) return
    const removal: SplitRemoval = {
      ...{ ...toRemovalRun(run), isSettled: settlesInMs <= 0, retractsAgain },
      cutFollowers: () => parts.cutFollowers(user),
      split: createSplit(parts, user, run),
    }
    for (const remove of steps) {
      const pause = await remove(user, removal)
      if (pause) return pause
    }
    if (!removal.isSettled) return { continuesInMs: settlesInMs }
    await users.free(user)
  }

/** The posts that the range jobs of a split retract. */
const postsOf = ({ payload }: { readonly payload: NewJob['payload'] }) =>
  (payload.posts ?? []) as readonly PostId[]

/** Creates {@link SplitRemoval.split} for one try. */
const createSplit =
  ({ ranges }: DeletionParts, user: UserId, run: Run): SplitRemoval['split'] =>
  (some, posts) => {
    const payload = { user, ...(posts && { posts: posts.ids }) }
    return ranges.split(run, { kind, payload }, some, posts && { write: posts.remove })
  }

const toRemovalRun = (run: Run): RemovalRun => ({
  signal: run.signal,
  onRemoved: countRemoved(run),
})

/**
 * Saves the number of removed documents over all tries. The count only shows progress: a deletion
 * that makes progress is not parked after ten interrupted tries.
 */
function countRemoved({ checkpoint, save }: Run): (count: number) => Promise<void> {
  const before = isSplit(checkpoint) ? undefined : (checkpoint as { removed: number } | null)
  let { removed } = before ?? { removed: 0 }
  return async (count) => {
    removed += count
    await save({ removed })
  }
}
