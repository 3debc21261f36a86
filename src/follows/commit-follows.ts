import { type IdempotencyKey, nameOfKey } from '../db/idempotency.ts'
import type { Transactions, Tx } from '../db/transaction.ts'
import type { JobWriter, Outbox } from '../jobs/outbox.ts'
import { splitApart } from '../lib/batch.ts'
import type { EdgeId } from '../lib/ids.ts'
import type { UserStats } from '../users/stats.ts'
import type { Admission } from '../visibility/visibility.ts'
import {
  countersOf,
  decideFollows,
  type FollowChange,
  type FollowRequest,
  type FollowState,
} from './decide-follow.ts'
import type { Edges, FollowEdge } from './edges.ts'
import { pairKey } from './pair-lists.ts'

/** A follow or unfollow, with its idempotency key and its jobs. */
export interface FollowWrite extends FollowRequest {
  readonly idempotencyKey: IdempotencyKey | undefined
  readonly jobs: JobWriter
}

/** What follows are committed with. */
export interface FollowParts {
  readonly edges: Edges
  readonly admission: Admission
  readonly stats: UserStats
  readonly outbox: Outbox
  readonly transactions: Transactions
  /** The most users that a user may follow. */
  readonly followeesMax: number
}

/**
 * Applies follows and unfollows in the caller's transaction, in order, each as if it were alone. Edges, history,
 * counters, jobs and the result under the idempotency key change together.
 * @param repairs whether edges that exist in one direction only are deleted before the new edges are inserted.
 * @returns the answer of each: an error refuses that write alone.
 * @throws {DomainError} the refusal of a single write by its counters.
 * Cost of follows, whatever their number: nine commands, ten with a second collection, and one more for several. Three
 * more with idempotency keys. Unfollows take eight, nine with a second collection, and share four of these with follows.
 * Again as many if there are several writes of one pair, or of one idempotency key.
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
  // A repeat is in a later batch, and finds the first result.
  for (const batch of splitApart(writes, namesOf)) {
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

/** What no two writes of a batch may have in common. */
const namesOf = ({ idempotencyKey, ...pair }: FollowWrite): string[] => [
  pairKey(pair),
  ...(idempotencyKey ? [nameOfKey(idempotencyKey)] : []),
]

/** How writes are applied. */
interface How {
  /** Whether it is one write, which may fail with its transaction. */
  readonly isAlone: boolean
  readonly repairs: boolean
}

/** Applies writes of different pairs. @returns the result of each. */
async function applyFollows(
  tx: Tx,
  parts: FollowParts,
  writes: readonly FollowWrite[],
  how: How,
): Promise<ReadonlyMap<FollowWrite, FollowChange | Error>> {
  if (writes.length === 0) return new Map()
  const state = await readState(tx, parts, writes, how)
  const results = decideFollows(writes, state)
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
  { edges, admission, stats, followeesMax }: FollowParts,
  writes: readonly FollowWrite[],
  { isAlone }: How,
): Promise<FollowState> {
  const stored = await edges.findAmong(tx, writes)
  const begun = writes.filter((write) => write.begin && !stored.has(pairKey(write)))
  const state = { edges: stored, followeesMax }
  if (begun.length === 0) return { ...state, blocked: new Set(), newIds: new Map() }
  const viewing = ({ follower, followee }: FollowWrite) => ({ viewer: follower, user: followee })
  const decide = await admission.decide(tx, 'FOLLOW', begun.map(viewing))
  const refused = begun.filter((write) => decide(viewing(write)) === 'NO')
  // A single write may fail with its transaction. In a batch, the others must not.
  const users = new Set(begun.flatMap(({ follower, followee }) => [follower, followee]))
  const live = isAlone ? undefined : await stats.byIds([...users], tx)
  const ids = await edges.newIds(
    tx,
    begun.map(({ follower, followee }) => ({ follower, followee })),
  )
  const newIds = new Map(begun.map((write, at) => [pairKey(write), ids[at] as EdgeId]))
  return { ...state, blocked: new Set(refused.map(pairKey)), live, newIds }
}

async function storeFollows(
  tx: Tx,
  { edges, stats, outbox, followeesMax }: FollowParts,
  changes: readonly (FollowWrite & { readonly edge: FollowEdge })[],
  { live, repairs }: FollowState & Pick<How, 'repairs'>,
): Promise<void> {
  const [begun, ended] = [true, false].map((begins) =>
    changes.filter(({ begin }) => (begin !== undefined) === begins).map(({ edge }) => edge),
  ) as [FollowEdge[], FollowEdge[]]
  if (repairs && begun.length > 0) await edges.erase(tx, begun)
  if (begun.length > 0) await edges.begin(tx, begun)
  if (ended.length > 0) await edges.remove(tx, ended)
  const counters = countersOf(begun, ended)
  if (live || begun.length === 0) await stats.changeLive(tx, counters)
  else await stats.change(tx, counters, followeesMax)
  const jobs = changes.flatMap(({ follower, followee, begin, jobs }) =>
    outbox
      .reactionsTo(begin ? 'follow.created' : 'follow.ended', { follower, followee })
      .map((job) => jobs.prepare(tx, job)),
  )
  await outbox.insert(tx, jobs)
}
