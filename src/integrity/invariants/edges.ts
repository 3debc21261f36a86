import type { FollowEventDoc } from '../../db/collections.ts'
import type { Collection, Filter } from '../../db/mongo.ts'
import { fromObjectId, toObjectId } from '../../db/object-id.ts'
import type { Tx } from '../../db/transaction.ts'
import type { EdgeIndex, FollowEdge, StoredEdge } from '../../follows/edges.ts'
import { pairKey } from '../../follows/pair-lists.ts'
import { batches } from '../../lib/batch.ts'
import { type EdgeId, timeIdAt, timeOf, type UserId } from '../../lib/ids.ts'
import { timelineReactions } from '../../timeline/delivery/job-kinds.ts'
import { walk } from '../inspect.ts'
import type { Check, IntegrityServices, Invariant, Run, Verdict, Violation } from '../invariant.ts'
import { mergeJoin } from '../merge-join.ts'
import {
  type BlockKind,
  blockKinds,
  edgeCollections,
  keyOf,
  mirrorOf,
  type Pair,
  type PairState,
  readPairs,
} from '../pair-state.ts'
import { edgeRanges, userRanges } from '../ranges.ts'
import { type Finding, findingOf, uncertain } from '../report.ts'

const invariant = { name: 'edges', law: 'L3' } as const

/** What can be wrong with a pair. */
type PairKind = 'sides' | 'block' | 'history' | 'history-repeat' | 'mirror'

/** The repair of a pair. */
type PairRepair =
  /** Both collections get the edge. */
  | 'RESTORE'
  /** Both collections lose the edge. */
  | 'REMOVE'
  /** The history gets the FOLLOWED that it lacks. */
  | 'RECORD'
  /** The history loses repeated events. */
  | 'REWRITE'
  /** The other side of the follower's BLOCK gets its BLOCKED_BY. */
  | 'MIRROR'
  /** The follower's BLOCKED_BY is deleted: only a BLOCK records an action of a user. */
  | 'UNMIRROR'

interface PairViolation extends Violation {
  readonly pair: PairState
  readonly repair: PairRepair | undefined
}

/**
 * Law L3: both collections hold the same edges. The range is a condition on an edge's id. Two
 * commands in the order of `_id`, merged. Finds nothing under `reverse-index`, which has one
 * collection.
 */
const edgeSides = (run: Run): Invariant<Pair, PairViolation> =>
  pairInvariant(run, ['sides'], edgeRanges(run), async function* (ids: object) {
    const { followers, following } = edgeCollections(run.edges)
    if (!following) return
    const read = async function* (from: Collection<StoredEdge>, side: 'left' | 'right') {
      const found = from.find({ _id: ids }, { batchSize: 5_000, projection: { groups: 0 } })
      for await (const edge of found.sort({ _id: 1 })) {
        const { _id, user, follower = user, followee = user, source } = edge
        yield { key: `${_id} ${follower} ${followee} ${source}`, follower, followee, [side]: true }
      }
    }
    const rows = mergeJoin<EdgeRow>([read(followers, 'left'), read(following, 'right')])
    for await (const { left, right, follower, followee } of rows) {
      if (!left || !right) yield { follower, followee }
    }
  })

/** An edge, and the collections that hold exactly it. */
interface EdgeRow extends Pair {
  readonly key: string
  readonly left?: true
  readonly right?: true
}

/**
 * Law L3: an edge exists exactly while FOLLOWED is the last event of its pair, and events
 * alternate. No edge crosses a block. Each BLOCK has its mirror BLOCKED_BY under the other user,
 * and each mirror its BLOCK: timeline reads rely on the mirrors (law L1). The range is a condition
 * on the first user's id. Three commands in the order of an index, merged, and one that seeks once
 * for each block. Under `reverse-index` the server sorts the edges.
 */
const edges = (run: Run): Invariant<Pair, PairViolation> =>
  pairInvariant(
    run,
    ['history', 'history-repeat', 'block', 'mirror'],
    userRanges(run),
    async function* (ids: object) {
      const { restrictions, follow_events } = run.collections
      const events = follow_events
        .find({ user: ids }, { projection: { _id: 0, user: 1, followee: 1, type: 1 } })
        .sort({ user: 1, followee: 1, _id: 1 })
      const blocks = restrictions
        .find(
          { owner: ids, kind: { $in: [...blockKinds] } },
          { projection: { _id: 0, owner: 1, other: 1 } },
        )
        .sort({ owner: 1, other: 1 })
      const rows = mergeJoin<PairRow>([
        edgeRows(run.edges.following, ids),
        reduced(events, ({ user, followee, type }, before) => {
          const last = before?.last ?? 'UNFOLLOWED'
          const row = { ...pairRow(user, followee), last: type }
          return before?.repeated || last === type ? { ...row, repeated: true } : row
        }),
        reduced(blocks, ({ owner, other }) => ({ ...pairRow(owner, other), blocked: true })),
      ])
      for await (const { follower, followee, edge, last, repeated, blocked } of rows) {
        const isContradicted = (edge === true) !== (last === 'FOLLOWED')
        if (isContradicted || repeated || (edge && blocked)) yield { follower, followee }
      }
      // An edge that crosses a block is also found where the block has lost its mirror.
      for await (const { owner, other } of unmirrored(run, ids)) {
        yield* [
          { follower: owner, followee: other },
          { follower: other, followee: owner },
        ]
      }
    },
  )

/**
 * What the scan knows of a pair. The key sorts by follower, then followee, since no id contains a
 * space.
 */
interface PairRow extends Pair {
  readonly key: string
  readonly edge?: true
  readonly last?: FollowEventDoc['type']
  readonly repeated?: true
  readonly blocked?: true
}

const pairRow = (follower: string, followee: string) => ({
  ...{ key: `${follower} ${followee}`, follower, followee },
})

async function* edgeRows(
  { collection, owner, other }: EdgeIndex,
  ids: object,
): AsyncGenerator<PairRow> {
  const docs = collection
    .find({ [owner]: ids } as Filter<StoredEdge>, {
      projection: { _id: 0, [owner]: 1, [other]: 1 },
    })
    .sort({ [owner]: 1, [other]: 1 })
    .allowDiskUse()
  for await (const doc of docs) {
    yield { ...pairRow(doc[owner] ?? '', doc[other] ?? ''), edge: true }
  }
}

/** Reduces documents, sorted by pair, to one row for each pair. Holds one row. */
async function* reduced<Doc>(
  docs: AsyncIterable<Doc>,
  toRow: (doc: Doc, before: PairRow | undefined) => PairRow,
): AsyncGenerator<PairRow> {
  let row: PairRow | undefined
  for await (const doc of docs) {
    const { key } = toRow(doc, undefined)
    if (row && row.key !== key) yield row
    row = toRow(doc, row?.key === key ? row : undefined)
  }
  if (row) yield row
}

/**
 * Yields the restrictions that lack their document on the other side. A command for 100 of them,
 * and one for all.
 */
async function* unmirrored({ collections: { restrictions } }: Run, ids: object) {
  const options = { projection: { _id: 0, owner: 1, other: 1, kind: 1 } } as const
  const all = restrictions.find({ owner: ids, kind: { $in: [...blockKinds] } }, options)
  for await (const some of batches(all, 100)) {
    const blocks = some.map((block) => ({ ...block, kind: block.kind as BlockKind }))
    const mirrors = await restrictions.find({ $or: blocks.map(mirrorOf) }, options).toArray()
    const keys = new Set(mirrors.map(keyOf))
    yield* blocks.filter((block) => !keys.has(keyOf(mirrorOf(block))))
  }
}

/**
 * Checks and repairs pairs of users. A check of 40 pairs is five commands, a repair at most twelve
 * more.
 * @param kinds the kinds of discrepancies to report.
 * @param scan yields the pairs to check. A pair that repeats among 40 pairs is checked once.
 */
const pairInvariant = (
  run: Run,
  kinds: readonly PairKind[],
  ranges: AsyncIterable<object>,
  scan: (range: object) => AsyncIterable<Pair>,
): Invariant<Pair, PairViolation> => ({
  ...invariant,
  ranges,
  scan,
  async check(pairs, at): Promise<Verdict<PairViolation>> {
    const once = new Map(pairs.filter(isNamed).map((pair) => [pairKey(pair), pair]))
    if (once.size === 0) return { violations: [] }
    const violations: PairViolation[] = []
    let inFlight = 0
    for (const pair of await readPairs(run, [...once.values()], at)) {
      if (pair.malformed) continue
      const own = judgePair(run, pair).filter(({ finding }) =>
        kinds.includes(finding.kind as PairKind),
      )
      if (!pair.leaving) violations.push(...own)
      else if (own.length > 0) inFlight++
    }
    return { violations, inFlight }
  },
  // Raises the numbers of repairs. Differences that were computed before this repair are then
  // refused, and an unblock, which deletes a document that this command changes, collides. It also
  // tells memory that relations may have changed.
  async lock({ session }, pairs) {
    const { user_stats, restrictions } = run.collections
    const named = pairs.filter(isNamed)
    const update = { $inc: { repairs: 1 } }
    const users = { $in: named.flatMap(({ follower, followee }) => [follower, followee]) }
    await user_stats.updateMany({ _id: users }, update, { session })
    if (!kinds.includes('mirror') || named.length === 0) return
    const ways = named.flatMap(({ follower, followee }) => [
      { owner: follower, other: followee },
      { owner: followee, other: follower },
    ])
    const blocks = { $or: ways, kind: { $in: [...blockKinds] } }
    await restrictions.updateMany(blocks, update, { session })
  },
  repair: (tx, violations) => repairPairs(run, tx, violations),
})

const isNamed = (pair: Pair) =>
  [pair.follower, pair.followee].every((id) => typeof id === 'string' && id !== '')

/** Checks both collections of edges, and then history and blocks. */
export const checkEdges: Check = async (run) => {
  await walk(edgeSides)(run)
  await walk(edges)(run)
}

const undecided =
  'Only one collection has the edge, and no history decides. Follow or unfollow on behalf of the follower, or delete the edge.'
const contradiction =
  'Both collections agree about the edge, and the history contradicts them. The edge stays unchanged.'
const disorder = 'The order of the events is impossible. The events stay unchanged.'

/**
 * Decides what is wrong with a pair and how to repair it. The history decides only if the two
 * collections disagree about the edge. If they agree and the history contradicts them, nothing
 * changes: clocks may have disordered the history.
 */
function judgePair({ edges, malformed }: Run, pair: PairState): PairViolation[] {
  const { last, repeats, balance, inFollowers, inFollowing, blocked, gone } = pair
  const edge = inFollowers ?? inFollowing
  const alone = edgeCollections(edges).following !== undefined && !inFollowers !== !inFollowing
  const findings: Finding[] = []
  const claim = (kind: PairKind, expected: string, actual: string, reason?: string) => {
    const isUncertain = kind !== 'block' && malformed.has('follow_events')
    findings.push(
      findingOf(invariant, {
        ...{ kind, subject: pairKey(pair), expected, found: actual },
        ...(reason === undefined ? {} : { unrepairable: reason }),
        ...(isUncertain ? uncertain : {}),
      }),
    )
  }
  const mirrors = pair.unmirrored.map((kind): PairViolation => {
    const expected = `${kind === 'BLOCK' ? 'BLOCKED_BY' : 'BLOCK'} on the other side`
    const finding = findingOf(invariant, {
      ...{ kind: 'mirror', subject: pairKey(pair), expected, found: `${kind} alone` },
      ...(kind === 'BLOCKED_BY' && malformed.has('restrictions') ? uncertain : {}),
    })
    return { pair, finding, repair: kind === 'BLOCK' ? 'MIRROR' : 'UNMIRROR' }
  })
  const violations = (repair: PairRepair | undefined) => [
    ...findings.map((finding) => ({ pair, finding, repair })),
    ...mirrors,
  ]
  if (gone) {
    // An edge in both collections is deleted with all data of the account, by the invariant
    // `accounts`.
    if (alone) claim('sides', 'none without an account', 'an edge in one collection')
    else if (!edge && last?.type === 'FOLLOWED') claim('history', 'UNFOLLOWED last', 'FOLLOWED')
    return violations(alone ? 'REMOVE' : 'REWRITE')
  }
  const [forward, backward] = [inFollowers, inFollowing].map(
    (doc) => doc && `${doc._id} ${doc.source}`,
  )
  const differ = edgeCollections(edges).following !== undefined && !alone && forward !== backward
  if (alone) {
    const found = `in ${inFollowers ? 'followers' : 'following'} alone`
    claim('sides', 'in followers and in following', found, blocked || last ? undefined : undecided)
  } else if (differ) {
    claim('sides', `the same edge in both: ${forward}`, `in following ${backward}`)
  }
  if (edge && blocked) claim('block', 'no edge across a block', 'an edge')
  const agrees = alone || (edge !== undefined) === (last?.type === 'FOLLOWED')
  const unrecorded = edge !== undefined && !last
  if (!agrees) {
    const expected = edge ? 'FOLLOWED last' : 'none, or UNFOLLOWED last'
    const settled = unrecorded || (edge && blocked)
    claim('history', expected, last?.type ?? 'none', settled ? undefined : contradiction)
  }
  const isCertain = agrees && balance !== (edge ? 1 : 0)
  if (repeats.length > 0) {
    const actual = `${repeats.length} repeated`
    claim(
      'history-repeat',
      'FOLLOWED and UNFOLLOWED in turn',
      actual,
      isCertain ? undefined : disorder,
    )
  }
  if (edge && blocked) return violations('REMOVE')
  if (alone) return violations(last && (last.type === 'FOLLOWED' ? 'RESTORE' : 'REMOVE'))
  if (differ) return violations('RESTORE')
  if (unrecorded) return violations('RECORD')
  return violations(repeats.length > 0 && isCertain ? 'REWRITE' : undefined)
}

async function repairPairs(
  { collections, edges, outbox, mint }: IntegrityServices,
  tx: Tx,
  violations: readonly PairViolation[],
): Promise<void> {
  const { session } = tx
  const those = (kind: PairRepair) => {
    const own = violations.filter(({ repair }) => repair === kind)
    const once = new Map(own.map(({ pair }) => [pairKey(pair), pair]))
    return [...once.values()].map((pair) => ({ pair, edge: edgeOf(pair, mint.next<EdgeId>()) }))
  }
  const edgesOf = (some: ReturnType<typeof those>) => some.map(({ edge }) => edge)
  const [restored, removed, recorded] = [those('RESTORE'), those('REMOVE'), those('RECORD')]
  if (restored.length + removed.length > 0) {
    await edges.erase(tx, edgesOf([...restored, ...removed]))
  }
  if (restored.length > 0) await edges.store(tx, edgesOf(restored))
  for (const { pair, edge } of restored) {
    const groups = pair.inFollowing?.groups ?? pair.inFollowers?.groups
    if (groups) await edges.setGroups(tx, edge.follower, edge.followee, groups)
  }
  if (recorded.length > 0) await edges.record(tx, 'FOLLOWED', edgesOf(recorded))
  const lasting = removed.filter(({ pair }) => !pair.gone)
  const ended = lasting.filter(({ pair }) => pair.blocked && pair.last?.type === 'FOLLOWED')
  if (ended.length > 0) await edges.record(tx, 'UNFOLLOWED', edgesOf(ended), 'BLOCK')
  const events = [...removed.filter(({ pair }) => pair.gone), ...those('REWRITE')].flatMap(
    ({ pair: { follower: user, followee, gone, repeats } }) =>
      gone ? [{ user, followee }] : repeats.map((_id) => ({ user, followee, _id })),
  )
  if (events.length > 0) await collections.follow_events.deleteMany({ $or: events }, { session })
  const jobsOf = (some: ReturnType<typeof those>, kind: string) =>
    some.map(({ pair: { follower, followee } }) => ({ kind, payload: { follower, followee } }))
  await outbox.enqueue(tx, [
    ...jobsOf(restored, timelineReactions['follow.created']),
    ...jobsOf(lasting, timelineReactions['follow.ended']),
  ])
  const blocksOf = (kind: PairRepair) =>
    those(kind).map(({ pair: { follower: owner, followee: other } }) => ({ owner, other }))
  const [mirrored, alone] = [blocksOf('MIRROR'), blocksOf('UNMIRROR')]
  const mirrors = mirrored.map((block) => ({
    ...{ _id: toObjectId(mint.next<EdgeId>()), ...mirrorOf({ ...block, kind: 'BLOCK' }) },
  }))
  if (mirrors.length > 0) await collections.restrictions.insertMany(mirrors, { session })
  const lone = alone.map((block) => ({ ...block, kind: 'BLOCKED_BY' as const }))
  if (lone.length > 0) await collections.restrictions.deleteMany({ $or: lone }, { session })
}

/**
 * The edge from the collection that agrees with the history. If neither collection has it: the edge
 * of the history.
 */
function edgeOf(pair: PairState, fresh: EdgeId): FollowEdge {
  const { last, inFollowers, inFollowing } = pair
  const stored = [inFollowers, inFollowing].filter((doc) => doc !== undefined)
  const confirmed = stored.find(
    ({ _id, source }) =>
      source === last?.source && timeOf(fromObjectId<EdgeId>(_id)).getTime() === last.at.getTime(),
  )
  const doc = confirmed ?? stored[0]
  const since = (last?.at ?? timeOf(fresh)).getTime()
  return {
    id: doc ? fromObjectId<EdgeId>(doc._id) : timeIdAt<EdgeId>(since, fresh.slice(12)),
    follower: pair.follower as UserId,
    followee: pair.followee as UserId,
    source: doc?.source ?? last?.source ?? 'FEEDLINE',
  }
}
