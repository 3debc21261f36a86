import type { Collections, EdgeSource, FollowEventDoc } from '../../src/db/collections.ts'
import { isDuplicateKey } from '../../src/db/errors.ts'
import type { Collection } from '../../src/db/mongo.ts'
import { toObjectId } from '../../src/db/object-id.ts'
import type { Tx } from '../../src/db/transaction.ts'
import type { Edges, FollowEdge } from '../../src/follows/edges.ts'
import { lastEvents } from '../../src/follows/last-events.ts'
import { clausesOf, inOrderOf, type Pair, pairKey } from '../../src/follows/pair-lists.ts'
import { chunks } from '../../src/lib/batch.ts'
import type { EdgeId, UserId } from '../../src/lib/ids.ts'
import type { StatsChange, UserStats } from '../../src/users/stats.ts'
import { importOf } from './checkpoint.ts'
import {
  bothIn,
  findImportAccounts,
  type ImportAccounts,
  insertImportAccounts,
  type NamedPair,
} from './import-accounts.ts'
import { countSkipped, type SkippedPair } from './skipped-pairs.ts'
import type { Line } from './text-file.ts'
import type { NamedBy } from './user-names.ts'

/** A pair of users as a file names them, with the history that an import adds to it. */
export interface ImportedPair extends NamedPair, Pick<Line, 'line'> {
  /**
   * In the order of time; FOLLOWED and UNFOLLOWED alternate. An edge has the id of the last event.
   */
  readonly events: readonly {
    readonly id: EdgeId
    readonly type: FollowEventDoc['type']
    readonly source: EdgeSource
    /** Milliseconds since 1970. */
    readonly atMs: number
  }[]
}

/** What an import of pairs counts, at zero. */
export const zeroCounts = {
  /** Accounts that were opened. */
  users: 0,
  /** Pairs whose history was written, with its events and the edges that exist after them. */
  pairs: 0,
  edges: 0,
  events: 0,
  /**
   * Skipped pairs that had an edge or a skipped history before, for example from an earlier row.
   */
  known: 0,
  /** Skipped pairs with a block. */
  blocked: 0,
  /** Skipped pairs with a deleted user, or with a handle that its former owner keeps. */
  deleted: 0,
  /** Skipped pairs with a subject that has no account and is no free handle. */
  unknown: 0,
  /** Skipped pairs without a follow. */
  empty: 0,
}
export type PairCounter = keyof typeof zeroCounts

/** An imported pair of accounts. `key` names it as its file does. */
type AccountPair = Pair &
  Pick<ImportedPair, 'events'> & { readonly key: string; readonly named: ImportedPair }

/** How a run treats pairs. */
export interface PairRules {
  /** Whether it skips pairs that have a history. Otherwise it adds to their history. */
  readonly skipsHistory: boolean
  /**
   * Whether it looks for stored edges. The first one that it finds by the unique index turns this
   * on.
   */
  looksForEdges: boolean
  readonly namedBy: NamedBy
  /** Keys of pairs of names that count as stored, though they are not. */
  readonly previewed?: ReadonlySet<string>
}

/** The pairs of a batch that an import writes, and what it counts. */
interface ClassifiedPairs {
  readonly fresh: readonly AccountPair[]
  /** Those of `fresh` that may have a history. */
  readonly older: readonly AccountPair[]
  readonly accounts: ImportAccounts
  readonly counts: Readonly<Record<PairCounter, number>>
  /** The other pairs. */
  readonly skipped: readonly SkippedPair[]
}

/**
 * Decides which pairs an import writes. Writes nothing. Two to about forty commands per 6,000
 * pairs.
 */
export async function classifyPairs(
  collections: Collections,
  tx: Tx,
  pairs: readonly ImportedPair[],
  { skipsHistory, looksForEdges, namedBy, previewed }: PairRules,
): Promise<ClassifiedPairs> {
  const following = pairs.filter(({ events }) => events.length > 0)
  const accounts = await findImportAccounts(collections, tx, following, namedBy)
  const { ids, opened, unknown } = accounts
  const minted = new Set([...opened].map((handle) => ids.get(handle)))
  const living = following
    .filter((pair) => bothIn(pair, ids))
    .map((named): AccountPair => {
      const { follower, followee, events } = named
      return {
        follower: ids.get(follower) as UserId,
        followee: ids.get(followee) as UserId,
        // No name has a line break.
        ...{ events, named, key: `${follower}\n${followee}` },
      }
    })
  const isOlder = ({ follower, followee }: Pair) => !minted.has(follower) && !minted.has(followee)
  const older = living.filter(isOlder)
  const stored = [
    await storedPairs(collections, tx, 'followers', looksForEdges ? older : []),
    await storedPairs(collections, tx, 'follow_events', skipsHistory ? older : []),
  ]
  // Spares a database without mutes and blocks several commands.
  const options = { session: tx.session, projection: { _id: 1 } }
  const restricted = await collections.restrictions.findOne({}, options)
  const blocks = await storedPairs(collections, tx, 'restrictions', restricted ? living : [])
  const byKey = new Map<string, AccountPair>()
  const skipped: SkippedPair[] = []
  const skip = ({ line, follower, followee }: ImportedPair, reason: SkippedPair['reason']) =>
    skipped.push({ line, follower, followee, reason })
  for (const pair of pairs) {
    const { follower, followee, events } = pair
    if (events.length === 0) skip(pair, 'empty')
    else if (unknown.has(follower) || unknown.has(followee)) skip(pair, 'unknown')
    else if (!bothIn(pair, ids)) skip(pair, 'deleted')
  }
  for (const pair of living) {
    const key = pairKey(pair)
    const isStored = stored.some((keys) => keys.has(key)) || previewed?.has(pair.key)
    if (byKey.has(key) || isStored) skip(pair.named, 'known')
    else if (blocks.has(key)) skip(pair.named, 'blocked')
    else byKey.set(key, pair)
  }
  const fresh = [...byKey.values()]
  const counts = {
    users: opened.size,
    pairs: fresh.length,
    edges: fresh.flatMap(edgeOf).length,
    events: fresh.reduce((count, { events }) => count + events.length, 0),
    ...countSkipped(skipped),
  }
  return { fresh, older: fresh.filter(isOlder), accounts, counts, skipped }
}

/**
 * Writes pairs in the caller's transaction: accounts for names that have none, edges, history and
 * exact counters. Cost: {@link classifyPairs}, and five to twelve commands, of which new accounts
 * take five.
 * @param createdAt the date of the new accounts.
 * @returns the new edges, what was counted, and the pairs that were skipped.
 */
export async function writePairs(
  services: {
    readonly collections: Collections
    readonly edges: Edges
    readonly stats: UserStats
  },
  tx: Tx,
  { pairs, createdAt }: { readonly pairs: readonly ImportedPair[]; readonly createdAt: Date },
  rules: PairRules,
) {
  const { collections, edges, stats } = services
  const classified = await classifyPairs(collections, tx, pairs, rules)
  const { fresh, older, accounts, counts, skipped } = classified
  const follows = fresh.flatMap(edgeOf)
  const changes = countEdges(follows)
  // A user who gets only a history must not be deleted at the same time.
  for (const id of usersOf(fresh)) if (!changes.has(id)) changes.set(id, { guard: 1 })
  const opened = new Set([...accounts.opened].map((handle) => accounts.ids.get(handle) as UserId))
  if (opened.size > 0) {
    await insertImportAccounts(collections, tx, accounts, { createdAt, namedBy: rules.namedBy })
    await stats.open(tx, [...opened], changes)
  }
  const others = new Map([...changes].filter(([id]) => !opened.has(id)))
  if (others.size > 0) await stats.change(tx, others)
  if (follows.length > 0) {
    await edges.store(tx, follows).catch((error: unknown) => {
      // The transaction is tried again.
      if (isDuplicateKey(error)) rules.looksForEdges = true
      throw error
    })
  }
  if (fresh.length > 0) {
    const higher = rules.skipsHistory ? new Map() : await higherIds(services, tx, older)
    const docs = inOrderOf(fresh, 'follower', 'followee').flatMap(
      ({ follower, followee, events }) =>
        events.map(({ id, atMs, ...event }) => {
          const _id = toObjectId(higher.get(id) ?? id)
          return { _id, user: follower, followee, ...event, at: new Date(atMs) }
        }),
    )
    await collections.follow_events.insertMany(docs, tx)
  }
  return { counts, follows, skipped }
}

/** The edge that exists after the history of a pair. */
const edgeOf = ({ follower, followee, events }: AccountPair): FollowEdge[] => {
  const last = events.at(-1)
  return last?.type === 'FOLLOWED' ? [{ id: last.id, follower, followee, source: last.source }] : []
}

const usersOf = (pairs: readonly Pair[]): Set<UserId> =>
  new Set(pairs.flatMap(({ follower, followee }) => [follower, followee]))

/** Sums what new edges add to the counters of their users. */
function countEdges(edges: readonly Pair[]): Map<UserId, StatsChange> {
  const changes = new Map<UserId, StatsChange>()
  const add = (id: UserId, field: 'followers' | 'following') => {
    const change = changes.get(id)
    changes.set(id, { ...change, [field]: (change?.[field] ?? 0) + 1 })
  }
  for (const { follower, followee } of edges) {
    add(follower, 'following')
    add(followee, 'followers')
  }
  return changes
}

/**
 * New ids for the events of edges whose pairs have a later event, by the id of the edge: so it is
 * the last event of the pair (law L3). One command on one index key; one more if any event is later
 * than the import, and one more if one of these pairs has a later event. None without pairs.
 */
async function higherIds(
  { collections, edges }: { readonly collections: Collections; readonly edges: Edges },
  tx: Tx,
  pairs: readonly AccountPair[],
): Promise<ReadonlyMap<EdgeId, EdgeId>> {
  const older = pairs.flatMap(edgeOf)
  const [first] = older
  if (!first) return new Map()
  const _id = { $gt: toObjectId(importOf(first.id).padEnd(24, 'f') as EdgeId) }
  const options = { session: tx.session, hint: { _id: 1 }, projection: { _id: 1 } } as const
  if ((await collections.follow_events.findOne({ _id }, options)) === null) return new Map()
  const ids = older.map(({ id }) => id)
  const last = await lastEvents(collections, tx, older, ids)
  const behind = older.filter((edge) => edge.id <= (last.get(pairKey(edge)) ?? ''))
  if (behind.length === 0) return new Map()
  const above = await edges.newIds(
    tx,
    behind.map((edge) => ({ ...edge, above: edge.id })),
  )
  return new Map(behind.map(({ id }, at) => [id, above[at] as EdgeId]))
}

/**
 * The collections that store pairs: the fields of the two users, and the index that begins with
 * them.
 */
const indexes = {
  followers: { follower: 'follower', followee: 'user', hint: { user: 1, follower: 1 }, where: {} },
  follow_events: {
    follower: 'user',
    followee: 'followee',
    hint: { user: 1, followee: 1, _id: 1, type: 1 },
    where: {},
  },
  /** Both directions of a block are stored. */
  restrictions: {
    follower: 'owner',
    followee: 'other',
    hint: { owner: 1, other: 1, kind: 1 },
    where: { kind: { $in: ['BLOCK', 'BLOCKED_BY'] } },
  },
} as const

const groupsPerCommand = 500
const pairsPerAnswer = 10_000

/**
 * Returns the keys of the pairs that a collection stores: edges, history or blocks. One command per
 * 500 groups of pairs with one follower or one followee. It is covered by the index and examines
 * one key per pair; the hint saves the planner a trial per group.
 */
async function storedPairs(
  collections: Pick<Collections, keyof typeof indexes>,
  { session }: Tx,
  name: keyof typeof indexes,
  pairs: readonly Pair[],
): Promise<Set<string>> {
  const { hint, where, ...fields } = indexes[name]
  const collection = collections[name] as unknown as Collection<Record<string, string>>
  const stored = new Set<string>()
  const projection = { _id: 0, [fields.follower]: 1, [fields.followee]: 1 }
  const options = { session, hint, projection, batchSize: pairsPerAnswer }
  for (const group of chunks(clausesOf(pairs, fields), groupsPerCommand)) {
    const $or = group.map((clause) => ({ ...clause, ...where }))
    for await (const doc of collection.find({ $or }, options)) {
      const [follower, followee] = [doc[fields.follower], doc[fields.followee]] as [string, string]
      stored.add(pairKey({ follower, followee }))
    }
  }
  return stored
}
