import { fromObjectId } from '../db/object-id.ts'
import type { Tx } from '../db/transaction.ts'
import { timelineReactions } from '../feed/delivery/job-kinds.ts'
import type { FollowEdge } from '../follows/edges.ts'
import { type EdgeId, timeIdAt, timeOf, type UserId } from '../lib/ids.ts'
import {
  type Discrepancy,
  findingOf,
  type IntegrityServices,
  type Invariant,
  type InvariantId,
  type Verdict,
  type Violation,
} from './invariant.ts'
import { hasMalformed, uncertain } from './invariants/document-shapes.ts'
import { type PairState, readPairs } from './pair-state.ts'
import { edgeCollections, nameOf, type Pair } from './pairs.ts'

/** The kinds of discrepancies of a pair. */
type PairKind = 'sides' | 'block' | 'history' | 'history-repeat'

/** An invariant about pairs of users. It covers some of the kinds of discrepancies. */
export interface PairRule extends InvariantId {
  readonly kinds: readonly PairKind[]
}

interface PairDiscrepancy extends Discrepancy {
  readonly kind: PairKind
}

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

interface PairViolation extends Violation {
  readonly pair: PairState
  readonly repair: PairRepair | undefined
}

/**
 * Checks and repairs pairs of users. A recheck of 40 pairs is five commands, a repair at most ten more.
 * @param rules the rules to check together, all of one law. Errors name all rules.
 * @param scan yields the pairs to check. A pair that repeats among 40 pairs is checked once.
 */
export const pairInvariant = <Range>(
  services: IntegrityServices,
  rules: readonly [PairRule, ...PairRule[]],
  scan: (range: Range) => AsyncIterable<Pair>,
): Invariant<Range, Pair, PairViolation> => ({
  name: rules.map(({ name }) => name).join(' and '),
  law: rules[0].law,
  scan,
  async recheck(pairs, at): Promise<Verdict<PairViolation>> {
    const named = pairs.filter((pair) => isHandle(pair.follower) && isHandle(pair.followee))
    const once = [...new Map(named.map((pair) => [nameOf(pair), pair])).values()]
    if (once.length === 0) return { violations: [] }
    const twoSides = edgeCollections(services.edges).following !== undefined
    const violations: PairViolation[] = []
    let inFlight = 0
    for (const pair of await readPairs(services, once, at)) {
      if (pair.malformed) continue
      const { repair, ...judged } = judgePair(pair, twoSides)
      const isUncertain =
        judged.discrepancies.length > 0 && (await hasMalformed(services, 'follow_events'))
      const discrepancies = judged.discrepancies.map((one) =>
        isUncertain && one.kind !== 'block' ? { ...one, ...uncertain } : one,
      )
      const own = rules.flatMap((rule) =>
        discrepancies
          .filter(({ kind }) => rule.kinds.includes(kind))
          .map((discrepancy) => findingOf(rule, discrepancy)),
      )
      if (pair.leaving && own.length > 0) inFlight++
      if (pair.leaving) continue
      const touched = [pair.follower, pair.followee]
      violations.push(...own.map((finding) => ({ finding, touched, pair, repair })))
    }
    return { violations, inFlight }
  },
  // Raises the numbers of repairs. The ledger then refuses differences that were computed before this repair.
  lock: ({ session }, pairs) =>
    services.collections.user_stats.updateMany(
      { _id: { $in: pairs.flatMap(({ follower, followee }) => [follower, followee]) } },
      { $inc: { repairs: 1 } },
      { session },
    ),
  repair: (tx, violations) => repairPairs(services, tx, violations),
})

const isHandle = (value: unknown): boolean => typeof value === 'string' && value !== ''

/**
 * Decides which discrepancies a pair has and how to repair them. The history decides only if the two collections
 * disagree about the edge. If they agree and the history contradicts them, nothing changes: clocks may have disordered
 * the history.
 */
function judgePair(
  pair: PairState,
  twoSides: boolean,
): { readonly discrepancies: readonly PairDiscrepancy[]; readonly repair: PairRepair | undefined } {
  const { last, repeats, balance, inFollowers, inFollowing, blocked, gone } = pair
  const edge = inFollowers ?? inFollowing
  const discrepancies: PairDiscrepancy[] = []
  const claim = (kind: PairKind, expected: string, found: string, unrepairable?: string) =>
    void discrepancies.push({
      ...{ kind, subject: nameOf(pair), expected, found },
      ...(unrepairable === undefined ? {} : { unrepairable }),
    })
  const alone = twoSides && !inFollowers !== !inFollowing
  if (gone) {
    // An edge in both collections is deleted with all data of the handle, by the invariant `accounts`.
    if (alone) claim('sides', 'none without an account', 'an edge in one collection')
    else if (!edge && last?.type === 'FOLLOWED') claim('history', 'UNFOLLOWED last', 'FOLLOWED')
    return { discrepancies, repair: alone ? 'REMOVE' : 'REWRITE' }
  }
  const [one, other] = [inFollowers, inFollowing].map((doc) => doc && `${doc._id} ${doc.source}`)
  const differ = twoSides && !alone && one !== other
  if (alone) {
    const found = `in ${inFollowers ? 'followers' : 'following'} alone`
    claim('sides', 'in followers and in following', found, blocked || last ? undefined : undecided)
  } else if (differ) {
    claim('sides', `the same edge in both: ${one}`, `in following ${other}`)
  }
  if (edge && blocked) claim('block', 'no edge across a block', 'an edge')
  const agrees = alone || (edge !== undefined) === (last?.type === 'FOLLOWED')
  const unrecorded = edge !== undefined && !last
  if (!agrees) {
    const expected = edge ? 'FOLLOWED last' : 'none, or UNFOLLOWED last'
    const settled = unrecorded || (edge && blocked)
    claim('history', expected, last?.type ?? 'none', settled ? undefined : contradiction)
  }
  const inOrder = balance === (edge ? 1 : 0)
  if (repeats.length > 0) {
    const certain = agrees && !inOrder
    const found = `${repeats.length} repeated`
    claim(
      'history-repeat',
      'FOLLOWED and UNFOLLOWED in turn',
      found,
      certain ? undefined : disorder,
    )
  }
  const repair = ((): PairRepair | undefined => {
    if (edge && blocked) return 'REMOVE'
    if (alone) return last && (last.type === 'FOLLOWED' ? 'RESTORE' : 'REMOVE')
    if (differ) return 'RESTORE'
    if (unrecorded) return 'RECORD'
    return repeats.length > 0 && agrees && !inOrder ? 'REWRITE' : undefined
  })()
  return { discrepancies, repair }
}

const undecided =
  'Only one collection has the edge, and no history decides. Follow or unfollow on behalf of the follower, or delete the edge.'
const contradiction =
  'Both collections agree about the edge, and the history contradicts them. The edge stays unchanged.'
const disorder = 'The order of the events is impossible. The events stay unchanged.'

async function repairPairs(
  { collections, edges, outbox, mint }: IntegrityServices,
  tx: Tx,
  violations: readonly PairViolation[],
): Promise<void> {
  const { session } = tx
  const once = [...new Map(violations.map((one) => [nameOf(one.pair), one])).values()]
  const all = once.map((one) => ({ ...one, edge: edgeOf(one.pair, mint.next<EdgeId>()) }))
  const those = (kind: PairRepair) => all.filter(({ repair }) => repair === kind)
  const edgesOf = (some: typeof all) => some.map(({ edge }) => edge)
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
  const ended = removed.filter(
    ({ pair }) => pair.blocked && !pair.gone && pair.last?.type === 'FOLLOWED',
  )
  if (ended.length > 0) await edges.record(tx, 'UNFOLLOWED', edgesOf(ended), 'BLOCK')
  const isGone = ({ pair }: PairViolation) => pair.gone
  const events = [...removed.filter(isGone), ...those('REWRITE')].flatMap(
    ({ pair: { follower: user, followee, gone, repeats } }) =>
      gone ? [{ user, followee }] : repeats.map((_id) => ({ user, followee, _id })),
  )
  if (events.length > 0) await collections.follow_events.deleteMany({ $or: events }, { session })
  const lasting = removed.filter((one) => !isGone(one))
  const jobs = [...restored, ...lasting].map(({ repair, edge: { follower, followee } }) => {
    const event = repair === 'RESTORE' ? 'follow.created' : 'follow.ended'
    return { kind: timelineReactions[event], payload: { follower, followee } }
  })
  await outbox.enqueue(tx, jobs)
}

/** The edge from the collection that agrees with the history. If neither collection has it: the edge of the history. */
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
