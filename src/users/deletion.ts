import type { Transactions, Tx } from '../db/transaction.ts'
import { subscriptions } from '../events.ts'
import type { Run } from '../jobs/lease.ts'
import type { NewJob } from '../jobs/outbox.ts'
import { isSplit, type KeyRange, type RangeJobs, rangeKind } from '../jobs/ranges.ts'
import type { Pause, Task } from '../jobs/runner.ts'
import type { PostId, UserId } from '../lib/ids.ts'
import type { Leaver, Users } from './users.ts'

/** A try to remove what a deleted account left. */
export interface Removal {
  readonly signal: AbortSignal
  /** Whether no write of the account that began before its deletion is still under way. */
  readonly isSettled: boolean
  /**
   * Whether the account still waits for this removal, in the transaction's view if one is given. If not, the documents
   * under the handle belong to its next owner: this worker was held up for longer than its lease.
   */
  readonly isDue: (tx?: Tx) => Promise<boolean>
  /** Called after each batch with the number of removed documents. */
  readonly onRemoved: (count: number) => Promise<void>
}

/** A removal that may be split by ranges of the account's followers. */
export interface SplitRemoval extends Removal {
  /** Whether the history of the account's followers stays, because it says whose timelines still hold its posts. */
  readonly keepsAudience: boolean
  /** Posts that were removed, and whose retraction begins again, because an operator dropped a part of it. */
  readonly retractsAgain: readonly PostId[]
  /**
   * Inserts a range job for each range, in one transaction with `posts.remove`. The next try begins after all of them
   * ended. While the timelines cluster fails, posts are removed and noted, and are retracted at the end.
   * @param posts what the range jobs retract. Without posts, they remove the followers' edges.
   * @returns what the step returns, so that this try ends.
   */
  readonly split: (
    ranges: readonly KeyRange[],
    posts?: { readonly ids: readonly PostId[]; readonly remove: (tx: Tx) => Promise<void> },
  ) => Promise<Pause>
  /**
   * Takes over jobs that need the edges of the account's followers, in one transaction. Their posts are noted, and are
   * retracted at the end. Does nothing before the last writes are settled, because the edges stay until then.
   * @returns a pause, to look for more jobs in the next try. Undefined if there are none.
   */
  readonly takeOver: (
    find: (tx: Tx) => Promise<TakenJobs | undefined>,
  ) => Promise<Pause | undefined>
}

/** Jobs that the removal of an account takes over. */
export interface TakenJobs {
  /** The posts whose entries they would remove. */
  readonly posts: readonly PostId[]
  cancel(tx: Tx): Promise<void>
}

/** Removes what one folder stores of an account. @returns a pause if it was split, and goes on in the next try. */
type RemovalStep = (user: UserId, removal: SplitRemoval) => Promise<Pause | undefined>

/** What an account deletion works with. */
export interface DeletionParts {
  readonly users: Users
  readonly transactions: Transactions
  readonly ranges: RangeJobs
  /** Run in this order. A repeat goes on where the last try ended. */
  readonly steps: readonly RemovalStep[]
  /** The work of range jobs. A repeat goes on where the last try ended. */
  readonly ofFollowers: {
    retract(user: UserId, posts: readonly PostId[], run: Run, range: KeyRange): ReturnType<Task>
    removeEdges(user: UserId, removal: Removal, range: KeyRange): Promise<'unfinished' | undefined>
  }
  /** What is stored on the timelines cluster, removed last. */
  readonly timelines: {
    /** Whether the timelines cluster fails now, so that nothing else should wait for it. */
    areFailing(): boolean
    /**
     * Removes the entries of posts that were removed while the cluster failed, then the account's own timelines.
     * @returns a pause while the cluster fails.
     */
    remove(user: UserId, posts: readonly PostId[], removal: Removal, run: Run): ReturnType<Task>
    /** Fills the timelines again. */
    refill(user: UserId, signal: AbortSignal): Promise<void>
  }
}

const kind = subscriptions['user.deleted'].accounts

/** The kinds of the jobs that end a deleted account. */
export type DeletionJob = typeof kind | `${typeof kind}.range`

/** Number of posts of an account that are removed while the timelines cluster fails. The others wait for it. */
const unretractedMax = 20_000
/** How long the removal waits then, in milliseconds. */
const fullPauseMs = 5_000

/** A try to remove an account. */
interface Leaving {
  readonly user: UserId
  readonly leaver: Leaver
  readonly removal: Removal
  readonly run: Run
}

/** The handle has its next owner: nothing of this removal may change. */
class RemovalOver extends Error {}

/**
 * The tasks that end a deleted account: remove what is left of it, at once and again when its last writes are settled.
 * Then they free the handle. The followers of an account with many are walked by range jobs.
 */
export const deletionTasks = (parts: DeletionParts) => ({
  [kind]: deleteAccount(parts),
  [rangeKind(kind)]: parts.ranges.createTask(async ({ user: given, posts }, run, range) => {
    const { users, ofFollowers } = parts
    const user = given as UserId
    if (posts !== undefined) return ofFollowers.retract(user, posts as PostId[], run, range)
    const leaver = await users.settle(user)
    return leaver && ofFollowers.removeEdges(user, createRemoval(users, user, leaver, run), range)
  }),
})

const deleteAccount =
  (parts: DeletionParts): Task =>
  async ({ user: given }, run) => {
    const { users, ranges, steps, timelines } = parts
    const user = given as UserId
    const waited = await ranges.wait(run)
    if (waited === 'ended') return ranges.leave(run, 'BULK')
    if (waited) return (timelines.areFailing() && (await goOn(parts, user, run))) || waited
    const retractsAgain = isSplit(run.checkpoint) ? postsOf(run.checkpoint) : []
    // An operator dropped a range of the edges. What is left may be too little for another split.
    if (isSplit(run.checkpoint) && retractsAgain.length === 0) return ranges.leave(run, 'BULK')
    const leaver = await users.settle(user)
    if (!leaver) return
    const removal = createRemoval(users, user, leaver, run)
    const { isDue } = removal
    const keepsAudience = leaver.unretracted > 0
    const leaving = { user, leaver, removal, run }
    const [split, takeOver] = [createSplit(parts, leaving), createTakeOver(parts, leaving)]
    try {
      for (const remove of steps) {
        const given = { ...removal, keepsAudience, retractsAgain, split, takeOver }
        const pause = await remove(user, given)
        if (pause) return pause
      }
    } catch (error) {
      if (error instanceof RemovalOver) return
      throw error
    }
    if (!(await isDue())) return
    if (!removal.isSettled) return { continuesInMs: leaver.settlesInMs }
    const posts = keepsAudience ? await users.loadUnretracted(user) : []
    const left = await timelines.remove(user, posts, removal, run)
    if (left) return left
    if (await isDue()) await users.free(user, leaver.since)
    // The worker was held up until the handle had its next owner, whose timelines were removed.
    else await timelines.refill(user, run.signal)
  }

/** The posts that the range jobs of a split retract. */
const postsOf = ({ payload }: { readonly payload?: NewJob['payload'] }) =>
  (payload?.posts ?? []) as readonly PostId[]

/** Goes on without the range jobs that retract posts, because the timelines cluster fails them. */
async function goOn(
  { users, ranges }: DeletionParts,
  user: UserId,
  run: Run,
): Promise<Pause | undefined> {
  return ranges.abandon(run, 'BULK', async (tx, { posts }) => {
    if (posts === undefined) return false
    await users.deferRetraction(user, posts as PostId[], tx)
    return true
  })
}

async function checkDue({ isDue }: Removal, tx: Tx): Promise<void> {
  if (!(await isDue(tx))) throw new RemovalOver()
}

/** Creates {@link SplitRemoval.takeOver} for one try. */
function createTakeOver(
  { users, transactions }: DeletionParts,
  { user, leaver, removal }: Leaving,
): SplitRemoval['takeOver'] {
  return async (find) => {
    if (!removal.isSettled) return undefined
    return transactions.run(async (tx) => {
      const taken = await find(tx)
      if (!taken) return undefined
      await checkDue(removal, tx)
      const { posts } = taken
      if (posts.length > 0) {
        if (leaver.unretracted >= unretractedMax) return { continuesInMs: fullPauseMs }
        await users.deferRetraction(user, posts, tx)
      }
      await taken.cancel(tx)
      return { continuesInMs: 0, insertedJobs: true }
    })
  }
}

/** Creates {@link SplitRemoval.split} for one try. */
function createSplit(
  { users, ranges, transactions, timelines }: DeletionParts,
  { user, leaver, removal, run }: Leaving,
): SplitRemoval['split'] {
  return async (some, posts) => {
    if (posts && timelines.areFailing()) {
      if (leaver.unretracted >= unretractedMax) return { continuesInMs: fullPauseMs }
      // A save in a try that is repeated changes what the run shows.
      const wasSplit = isSplit(run.checkpoint)
      return transactions.run(async (tx) => {
        await checkDue(removal, tx)
        await posts.remove(tx)
        await users.deferRetraction(user, posts.ids, tx)
        // Nothing of an earlier split begins again.
        if (wasSplit) return ranges.leave(run, 'BULK', tx)
        return { continuesInMs: 0, insertedJobs: true }
      })
    }
    return ranges.split(
      run,
      { kind, payload: { user, ...(posts && { posts: posts.ids }) } },
      some,
      {
        write: async (tx) => {
          await checkDue(removal, tx)
          await posts?.remove(tx)
        },
      },
    )
  }
}

const createRemoval = (
  users: Users,
  user: UserId,
  { since, settlesInMs }: Leaver,
  run: Run,
): Removal => ({
  signal: run.signal,
  isSettled: settlesInMs <= 0,
  isDue: async (tx) => (await users.leavingSince(user, tx))?.getTime() === since.getTime(),
  onRemoved: countRemoved(run),
})

/**
 * Saves the number of removed documents over all tries. The count only shows progress: a deletion that makes progress
 * is not parked after ten interrupted tries.
 */
function countRemoved({ checkpoint, save }: Run): (count: number) => Promise<void> {
  const before = isSplit(checkpoint) ? undefined : (checkpoint as { removed: number } | null)
  let { removed } = before ?? { removed: 0 }
  return async (count) => {
    removed += count
    await save({ removed })
  }
}
