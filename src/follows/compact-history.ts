import type { Collections, FollowEventDoc } from '../db/collections.ts'
import type { ObjectId } from '../db/mongo.ts'
import type { Transactions } from '../db/transaction.ts'
import type { Pair } from './pair-lists.ts'

/**
 * Number of events that one transaction removes. Even, because it removes a follow with the
 * unfollow that ended it.
 */
const removalBatchSize = 500
/** Number of events in one answer of the server. */
const batchSize = 2_000

/** The result of a compaction so far. */
export interface CompactedHistory {
  readonly pairs: number
  readonly events: number
  /** The removed events. In a dry run, the events that a compaction would remove. */
  readonly removed: number
  /** Pairs whose events do not alternate. They stay unchanged, because reconcile needs them. */
  readonly disordered: number
  /** The last follower whose pairs are all done. A compaction after this id continues. */
  readonly upTo: string
}

/** How {@link compactHistory} works. */
export interface CompactionOptions {
  /** Changes nothing. */
  readonly dryRun: boolean
  /** Skips followers up to this id. Default: none. */
  readonly after?: string | undefined
  /** Ends the compaction between two transactions, with its reason. */
  readonly signal: AbortSignal
  readonly onProgress?: (sofar: CompactedHistory) => void
}

/**
 * Removes the events before the last follow of each pair. The last follow stays, and the unfollow
 * after it. So the history of a pair begins with a follow, its events alternate, and its last event
 * is the same as before: law L3.
 *
 * Each transaction removes follows with the unfollows that ended them, so no reader sees a history
 * that does not alternate. New events are above all earlier events of their pair, so a concurrent
 * follow or unfollow is safe. A repeat continues an interrupted compaction. Cost: one command for
 * 2,000 events, and a transaction of one command for 500 removed events.
 */
export async function compactHistory(
  { follow_events }: Pick<Collections, 'follow_events'>,
  transactions: Transactions,
  { dryRun, after = '', signal, onProgress }: CompactionOptions,
): Promise<CompactedHistory> {
  const total = { pairs: 0, events: 0, removed: 0, disordered: 0, upTo: after }
  let waiting: ObjectId[] = []
  const users = new Set<string>()
  let current = after
  const removeWaiting = async () => {
    signal.throwIfAborted()
    const user = { $in: [...users] }
    for (; waiting.length > 0; waiting = waiting.slice(removalBatchSize)) {
      const _id = { $in: waiting.slice(0, removalBatchSize) }
      if (dryRun) continue
      await transactions.run(({ session }) =>
        follow_events.deleteMany({ user, _id }, { session, hint: { _id: 1 } }),
      )
    }
    users.clear()
    onProgress?.({ ...total })
  }
  const events = follow_events
    .find({ user: { $gt: after } }, { batchSize, projection: { user: 1, followee: 1, type: 1 } })
    .sort({ user: 1, followee: 1, _id: 1 })
  for await (const { follower, history } of histories(events)) {
    signal.throwIfAborted()
    const removable = removableIn(history)
    total.pairs++
    total.events += history.length
    // A user may have more pairs, so the user before is the last one that is done.
    if (follower !== current) total.upTo = current
    current = follower
    if (removable === undefined) total.disordered++
    else if (removable.length > 0) {
      total.removed += removable.length
      waiting.push(...removable)
      users.add(follower)
    }
    if (waiting.length >= removalBatchSize) await removeWaiting()
  }
  total.upTo = current
  await removeWaiting()
  return total
}

type Event = Pick<FollowEventDoc, '_id' | 'user' | 'followee' | 'type'>

/** Groups events, sorted by pair and time, by pair. Holds the events of one pair. */
async function* histories(
  events: AsyncIterable<Event>,
): AsyncGenerator<Pick<Pair, 'follower'> & { readonly history: readonly Event[] }> {
  let history: Event[] = []
  for await (const event of events) {
    const [first] = history
    if (first && (first.user !== event.user || first.followee !== event.followee)) {
      yield { follower: first.user as Pair['follower'], history }
      history = []
    }
    history.push(event)
  }
  const [first] = history
  if (first) yield { follower: first.user as Pair['follower'], history }
}

/**
 * The events before the last follow of a pair, an even number. Undefined if the events do not
 * alternate.
 */
function removableIn(history: readonly Event[]): ObjectId[] | undefined {
  const alternates = history.every(({ type }, at) => type === (at % 2 ? 'UNFOLLOWED' : 'FOLLOWED'))
  if (!alternates) return undefined
  const lastFollow = history.length - (history.length % 2 ? 1 : 2)
  return history.slice(0, lastFollow).map(({ _id }) => _id)
}
