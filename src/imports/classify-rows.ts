import type { Collections } from '../db/collections.ts'
import type { Tx } from '../db/transaction.ts'
import { pairKey } from '../follows/pair-lists.ts'
import { type Accounts, bothIn } from './accounts.ts'
import type { Counts } from './checkpoint.ts'
import { storedPairs } from './pairs.ts'
import type { RelationRow } from './relation-file.ts'

/** What an import of relations counts, at zero. */
export const zeroCounts = {
  /** Accounts that were opened. */
  users: 0,
  /** Pairs whose history was written, with its events and the edges that exist after them. */
  pairs: 0,
  edges: 0,
  events: 0,
  /** Skipped rows of pairs that had a history or an edge before, for example from an earlier row. */
  known: 0,
  /** Skipped rows of pairs with a block. */
  blocked: 0,
  /** Skipped rows of deleted users. */
  deleted: 0,
  /** Skipped rows without a follow. */
  empty: 0,
}
export type RelationCounter = keyof typeof zeroCounts
export type RelationCounts = Counts<RelationCounter>

interface Batch {
  readonly rows: readonly RelationRow[]
  /** The accounts of all users in the rows with a follow. */
  readonly accounts: Accounts
  /** Keys of pairs that count as stored, though they are not. */
  readonly seen?: ReadonlySet<string>
}

/** The rows that contain a follow. The others open no account. */
export const withEvents = (rows: readonly RelationRow[]): RelationRow[] =>
  rows.filter(({ events }) => events.length > 0)

/** Decides which rows an import writes, and counts these and the others. Three to six commands per 1,000 rows. */
export async function classifyRows(
  collections: Collections,
  tx: Tx,
  { rows, accounts: { live, opened }, seen }: Batch,
): Promise<{ readonly fresh: readonly RelationRow[]; readonly counts: RelationCounts }> {
  const following = withEvents(rows)
  const living = following.filter((row) => bothIn(row, live))
  const older = living.filter(
    ({ follower, followee }) => !opened.has(follower) && !opened.has(followee),
  )
  const edges = await storedPairs(collections, tx, 'followers', older)
  const histories = await storedPairs(collections, tx, 'follow_events', older)
  const blocks = await storedPairs(collections, tx, 'restrictions', living)
  const fresh = new Map<string, RelationRow>()
  let [known, blocked] = [0, 0]
  for (const row of living) {
    const key = pairKey(row)
    if ([fresh, seen, edges, histories].some((keys) => keys?.has(key))) known++
    else if (blocks.has(key)) blocked++
    else fresh.set(key, row)
  }
  const written = [...fresh.values()]
  const counts = {
    users: opened.size,
    pairs: written.length,
    edges: written.filter(({ events }) => events.at(-1)?.type === 'FOLLOWED').length,
    events: written.reduce((count, { events }) => count + events.length, 0),
    known,
    blocked,
    deleted: following.length - living.length,
    empty: rows.length - following.length,
  }
  return { fresh: written, counts }
}
