import type { Tx } from '../db/transaction.ts'
import type { Accounts } from './accounts.ts'
import type { ImportServices } from './import-graph.ts'
import { pairKey, storedPairs } from './pairs.ts'
import type { RelationRow } from './relation-file.ts'

/** What rows come to: an import counts it in its checkpoint. */
export const nothing = {
  /** Accounts opened. */
  users: 0,
  /** Pairs whose history was written, with so many events and edges that stand. */
  pairs: 0,
  edges: 0,
  events: 0,
  /** Rows passed over: of pairs that had a history or an edge before, also by a row above. */
  known: 0,
  /** Across a block. */
  blocked: 0,
  /** Of deleted people. */
  deleted: 0,
  /** That tell of no follow. */
  empty: 0,
}
export type Counter = keyof typeof nothing
export type RelationCounts = Readonly<Record<Counter, number>>

export const mapped = (of: (counter: Counter) => number) =>
  Object.fromEntries(
    (Object.keys(nothing) as Counter[]).map((counter) => [counter, of(counter)]),
  ) as RelationCounts
export const sum = (
  before: RelationCounts,
  more: Chosen['counts'],
  users: number,
): RelationCounts => mapped((counter) => before[counter] + { ...more, users }[counter])

/** Rows of which some are written. */
interface Candidates {
  readonly rows: readonly RelationRow[]
  /** The accounts of those whom the rows name. */
  readonly accounts: Accounts
  /** Pairs that are as good as written. */
  readonly before?: ReadonlySet<string>
}

/** Which rows are to be written, and what becomes of the others. */
export interface Chosen {
  readonly fresh: readonly RelationRow[]
  readonly counts: Omit<RelationCounts, 'users'>
}

/** Chooses the rows that are written, and counts the others. */
export async function choose(
  services: ImportServices,
  tx: Tx,
  { rows, accounts: { live, opened }, before }: Candidates,
): Promise<Chosen> {
  const telling = rows.filter(({ events }) => events.length > 0)
  const living = telling.filter((row) => live.has(row.follower) && live.has(row.followee))
  const older = living.filter((row) => !opened.has(row.follower) && !opened.has(row.followee))
  const known = await knownAmong(services, tx, older)
  const blocked = await blockedAmong(services, tx, living)
  const fresh = new Map<string, RelationRow>()
  let [knownRows, blockedRows] = [0, 0]
  for (const row of living) {
    const key = keyOf(row)
    if (fresh.has(key) || before?.has(key) || known.has(key)) knownRows++
    else if (blocked.has(key)) blockedRows++
    else fresh.set(key, row)
  }
  const chosen = [...fresh.values()]
  const counts = {
    pairs: chosen.length,
    edges: chosen.filter(stands).length,
    events: chosen.reduce((count, { events }) => count + events.length, 0),
    known: knownRows,
    blocked: blockedRows,
    deleted: telling.length - living.length,
    empty: rows.length - telling.length,
  }
  return { fresh: chosen, counts }
}

/** Of which of the pairs there is an edge or a history. A command or two for each. */
async function knownAmong(
  { collections: { followers, follow_events } }: ImportServices,
  tx: Tx,
  rows: readonly RelationRow[],
): Promise<ReadonlySet<string>> {
  const pairs = rows.map(pairOf)
  const edge = { one: 'follower', other: 'user', hint: { user: 1, follower: 1 } } as const
  const event = {
    one: 'user',
    other: 'followee',
    hint: { user: 1, followee: 1, _id: 1, type: 1 },
  } as const
  const edges = await storedPairs({ collection: followers, ...edge }, tx, pairs)
  const events = await storedPairs({ collection: follow_events, ...event }, tx, pairs)
  return new Set([...edges, ...events])
}

/** Between which of the pairs a block stands: each has a mirror. */
async function blockedAmong(
  { collections: { restrictions } }: ImportServices,
  tx: Tx,
  rows: readonly RelationRow[],
): Promise<ReadonlySet<string>> {
  const hint = { owner: 1, other: 1, kind: 1 } as const
  const where = { kind: { $in: ['BLOCK', 'BLOCKED_BY'] } }
  const index = { collection: restrictions, one: 'owner', other: 'other', hint, where }
  return storedPairs(index, tx, rows.map(pairOf))
}

/** Whether the pair's edge stands at the end. */
export const stands = ({ events }: RelationRow) => events.at(-1)?.type === 'FOLLOWED'
const pairOf = ({ follower, followee }: RelationRow) => ({ one: follower, other: followee })
export const keyOf = (row: RelationRow) => pairKey(pairOf(row))
