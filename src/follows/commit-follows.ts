import type { EdgeSource } from '../db/collections.ts'
import { isDuplicateKey } from '../db/errors.ts'
import { type IdempotencyKey, nameOfKey } from '../db/idempotency.ts'
import { type Transactions, TryAgain, type Tx } from '../db/transaction.ts'
import type { JobWriter, NeedsJobs, Outbox } from '../jobs/outbox.ts'
import { splitApart } from '../lib/batch.ts'
import type { EdgeId } from '../lib/ids.ts'
import type { UserStats } from '../users/stats.ts'
import type { FollowAdmission } from '../visibility/visibility.ts'
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
  readonly admission: FollowAdmission
  readonly stats: UserStats
  readonly outbox: Outbox
  readonly transactions: Transactions
  readonly needsJobs: NeedsJobs
  /** The most users that a user may follow. */
  readonly followeesMax: number
}

/**
 * Follows in whose transaction something refused a write. Their next try reads before it writes.
 */
const inDoubt = new WeakSet<FollowWrite>()

/**
 * Applies follows and unfollows in the caller's transaction, in order, each as if it were alone.
 * Edges, history, counters, jobs and the result under the idempotency key change together.
 * @param repairs whether edges that exist in one direction only are deleted before the new edges
 *   are inserted.
 * @returns the answer of each: an error refuses that write alone.
 * @throws {DomainError} the refusal of a single write by its counters. Cost: see
 * {@link beginFollows} for follows that are all new, of different pairs and idempotency keys.
 * Otherwise, whatever their number: nine commands, ten with a second collection, and one more for
 * several. Three more with idempotency keys. Unfollows take eight, nine with a second collection,
 * and share four of these with follows. Again as many if there are several writes of one pair, or
 * of one idempotency key. Jobs: see {@link insertJobs}.
 */
export async function commitFollows(
  tx: Tx,
  parts: FollowParts,
  writes: readonly FollowWrite[],
  repairs: boolean,
): Promise<readonly (FollowChange | Error)[]> {
  const batches = [...splitApart(writes, namesOf)]
  const mayBegin = !repairs && batches.length === 1
  if (mayBegin && writes.every((write) => write.begin && !inDoubt.has(write)))
    return beginFollows(tx, parts, writes as readonly NewFollow[])
  const { idempotency } = parts.transactions
  const results = new Map<FollowWrite, FollowChange | Error>()
  const isAlone = writes.length === 1
  // A repeat is in a later batch, and finds the first result.
  for (const batch of batches) {
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

type NewFollow = FollowWrite & { readonly begin: EdgeSource }

/**
 * Begins follows of different pairs and idempotency keys, without reading whether they are new: the
 * unique indexes of edges and results, and the filter of the counters, decide that. The transaction
 * does read blocks: the guard that a block changes makes it collide with one that it does not see,
 * so no edge crosses a block (law L3). Cost, whatever the number of follows: blocks, last events,
 * edges, history, counters and results under idempotency keys, each one command, and one with a
 * second collection. One more reads accounts that this process does not know.
 * @throws {TryAgain} if one of several follows is refused, or anything but a block refuses one. The
 *   next try reads.
 */
async function beginFollows(
  tx: Tx,
  parts: FollowParts,
  writes: readonly NewFollow[],
): Promise<readonly (FollowChange | Error)[]> {
  const { edges, admission, stats, followeesMax, transactions } = parts
  const doubt = (cause?: unknown) => {
    for (const write of writes) inDoubt.add(write)
    return new TryAgain('not every follow is new', { cause })
  }
  const pairs = writes.map(({ follower, followee }) => ({ viewer: follower, user: followee }))
  const decide = await admission.decide(tx, pairs)
  if (pairs.some((pair) => decide(pair) !== 'YES')) throw doubt()
  const ids = await edges.newIds(tx, writes)
  const begun = writes.map((write, at) => {
    const { follower, followee, begin: source } = write
    return { ...write, edge: { id: ids[at] as EdgeId, follower, followee, source } }
  })
  const made = begun.map(({ edge }) => edge)
  const results = begun.map(({ edge }) => ({ changed: true, edge }))
  try {
    await edges.begin(tx, made)
    const counters = countersOf(made, [])
    if ((await stats.changeLive(tx, counters, followeesMax)) < counters.size) throw doubt()
    transactions.idempotency.noteLive(tx, counters.keys())
    const saved = begun.flatMap(({ idempotencyKey: key }, at) =>
      key ? [{ key, result: results[at] }] : [],
    )
    await transactions.idempotency.saveResults(saved, tx)
  } catch (error) {
    throw isDuplicateKey(error) ? doubt(error) : error
  }
  await insertJobs(tx, parts, begun)
  return results
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
  const decide = await admission.decide(tx, begun.map(viewing))
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
  parts: FollowParts,
  changes: readonly (FollowWrite & { readonly edge: FollowEdge })[],
  { live, repairs }: FollowState & Pick<How, 'repairs'>,
): Promise<void> {
  const { edges, stats, followeesMax } = parts
  const [begun, ended] = [true, false].map((begins) =>
    changes.filter(({ begin }) => (begin !== undefined) === begins).map(({ edge }) => edge),
  ) as [FollowEdge[], FollowEdge[]]
  if (repairs && begun.length > 0) await edges.erase(tx, begun)
  if (begun.length > 0) await edges.begin(tx, begun)
  if (ended.length > 0) await edges.remove(tx, ended)
  const counters = countersOf(begun, ended)
  if (live || begun.length === 0) await stats.changeLive(tx, counters)
  else await stats.change(tx, counters, followeesMax)
  await insertJobs(tx, parts, changes)
}

/**
 * Inserts the jobs of timelines. One command, none while no strategy stores timelines: see
 * {@link NeedsJobs}.
 */
async function insertJobs(
  tx: Tx,
  { outbox, needsJobs }: FollowParts,
  changes: readonly FollowWrite[],
): Promise<void> {
  if (!(await needsJobs())) return
  const jobs = changes.flatMap(({ follower, followee, begin, jobs }) =>
    outbox
      .reactionsTo(begin ? 'follow.created' : 'follow.ended', { follower, followee })
      .map((job) => jobs.prepare(tx, job)),
  )
  await outbox.insert(tx, jobs)
}
