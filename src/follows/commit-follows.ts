import type { IdempotencyKey } from '../db/idempotency.ts'
import type { Transactions, Tx } from '../db/transaction.ts'
import type { JobWriter, Outbox } from '../jobs/outbox.ts'
import type { EdgeId, UserId } from '../lib/ids.ts'
import type { UserStats } from '../users/stats.ts'
import { isShown, mirrored } from '../visibility/rules.ts'
import type { Visibility } from '../visibility/visibility.ts'
import {
  countersOf,
  decideFollow,
  type FollowChange,
  type FollowRequest,
  type FollowState,
  splitIntoBatches,
} from './decide-follow.ts'
import type { Edges, FollowEdge } from './edges.ts'

/** A follow or unfollow, with its idempotency key and its jobs. */
export interface FollowWrite extends FollowRequest {
  readonly followee: UserId
  readonly idempotencyKey: IdempotencyKey | undefined
  readonly jobs: JobWriter
}

/** What follows are committed with. */
export interface FollowParts {
  readonly edges: Edges
  /** What a viewer may do, by facts that the transaction reads. */
  readonly visibilityFor: (viewer: UserId, tx: Tx) => Visibility
  readonly stats: UserStats
  readonly outbox: Outbox
  readonly transactions: Transactions
  /** The most users that a user may follow. */
  readonly followeesMax: number
}

/**
 * Applies follows and unfollows of one followee in the caller's transaction, in order, each as if it were alone. Edges,
 * history, counters, jobs and the result under the idempotency key change together.
 * @param repairs whether edges that exist in one direction only are deleted before the new edges are inserted.
 * @returns the answer of each: an error refuses that write alone.
 * @throws {DomainError} the refusal of a single write by its counters.
 * Cost: at most eleven commands, whatever the number of writes; again as many if it has several writes of one follower.
 */
export async function commitFollows(
  tx: Tx,
  parts: FollowParts,
  writes: readonly FollowWrite[],
  repairs: boolean,
): Promise<readonly (FollowChange | Error)[]> {
  const { idempotency } = parts.transactions
  const results = new Map<FollowWrite, FollowChange | Error>()
  const isAlone = writes.length === 1
  // A repeat has the same follower, so it is in a later batch and finds the first result.
  for (const batch of splitIntoBatches(writes)) {
    const keys = batch.map(({ idempotencyKey }) => idempotencyKey)
    const firsts = await idempotency.savedResults<FollowChange>(keys, tx)
    const fresh: FollowWrite[] = []
    for (const [at, write] of batch.entries()) {
      const first = firsts[at]
      if (first) results.set(write, first instanceof Error ? first : first.result)
      else fresh.push(write)
    }
    const applied = await applyFollows(tx, parts, fresh, { repairs, isAlone })
    const saved = [...applied].flatMap(([{ idempotencyKey: key }, result]) =>
      key && !(result instanceof Error) ? [{ key, result }] : [],
    )
    await idempotency.saveResults(saved, tx)
    for (const [write, result] of applied) results.set(write, result)
  }
  return writes.map((write) => results.get(write) as FollowChange | Error)
}

/** How writes are applied. */
interface How {
  /** Whether it is one write, which may fail with its transaction. */
  readonly isAlone: boolean
  readonly repairs: boolean
}

/** Applies writes of different followers. @returns the result of each. */
async function applyFollows(
  tx: Tx,
  parts: FollowParts,
  writes: readonly FollowWrite[],
  how: How,
): Promise<Map<FollowWrite, FollowChange | Error>> {
  const state = await readState(tx, parts, writes, how)
  if (!state) return new Map()
  const results = new Map(writes.map((write) => [write, decideFollow(write, state)]))
  const changes = [...results].flatMap(([write, result]) =>
    !(result instanceof Error) && result.changed && result.edge
      ? [{ ...write, edge: result.edge }]
      : [],
  )
  if (changes.length > 0) await storeFollows(tx, parts, changes, { ...state, repairs: how.repairs })
  return results
}

async function readState(
  tx: Tx,
  { edges, visibilityFor, stats, followeesMax }: FollowParts,
  writes: readonly FollowWrite[],
  { isAlone }: How,
): Promise<FollowState | undefined> {
  const followee = writes[0]?.followee
  if (followee === undefined) return undefined
  const followers = writes.map(({ follower }) => follower)
  const stored = await edges.findAmong(tx, followers, followee)
  const newFollowers = writes
    .filter(({ begin, follower }) => begin && !stored.has(follower))
    .map(({ follower }) => follower)
  const state = { followee, edges: stored, followeesMax }
  if (newFollowers.length === 0) return { ...state, blocked: new Set(), newIds: new Map() }
  // One side has the restrictions of the whole batch.
  const facts = await visibilityFor(followee, tx).load('FOLLOW', [...newFollowers, followee])
  const blocked = new Set(
    newFollowers.filter((follower) => {
      const restrictions = new Map([[followee, mirrored(facts.restrictions.get(follower))]])
      return !isShown('FOLLOW', follower, { user: followee }, { ...facts, restrictions })
    }),
  )
  // A single write may fail with its transaction. In a batch, the others must not.
  const live = isAlone ? undefined : await stats.byIds([...newFollowers, followee], tx)
  const ids = await edges.newIds(
    tx,
    newFollowers.map((follower) => ({ follower, followee })),
  )
  const newIds = new Map(newFollowers.map((follower, at) => [follower, ids[at] as EdgeId]))
  return { ...state, blocked, live, newIds }
}

async function storeFollows(
  tx: Tx,
  { edges, stats, outbox, followeesMax }: FollowParts,
  changes: readonly (FollowWrite & { readonly edge: FollowEdge })[],
  { followee, live, repairs }: FollowState & Pick<How, 'repairs'>,
): Promise<void> {
  const [begun, ended] = [true, false].map((begins) =>
    changes.filter(({ begin }) => (begin !== undefined) === begins).map(({ edge }) => edge),
  ) as [FollowEdge[], FollowEdge[]]
  if (repairs && begun.length > 0) await edges.erase(tx, begun)
  if (begun.length > 0) await edges.begin(tx, begun)
  if (ended.length > 0) await edges.remove(tx, ended)
  const counters = countersOf(followee, begun, ended)
  if (live || begun.length === 0) await stats.changeLive(tx, counters)
  else await stats.change(tx, counters, followeesMax)
  const jobs = changes.flatMap(({ follower, begin, jobs }) =>
    outbox
      .reactionsTo(begin ? 'follow.created' : 'follow.ended', { follower, followee })
      .map((job) => jobs.prepare(tx, job)),
  )
  await outbox.insert(tx, jobs)
}
