import type { Filter } from '../db/mongo.ts'
import type { Tx } from '../db/transaction.ts'
import type { StoredEdge } from '../follows/edges.ts'
import { fits, historiesOf, keyOf, misfits, type PairHistory } from '../reconcile/history.ts'
import { nameOf, type Pair } from '../reconcile/sides.ts'
import { type HandleRange, within } from '../reconcile/walk.ts'
import { leavingAmong } from './blocks.ts'
import { confirmed, type Difference, type Tally, type Verdict, type VerifyServices } from './run.ts'

/**
 * Pairs of a range's followers whose history does not say of an edge what is so, or begins or ends one twice in a row
 * (law L3). Two commands in the order of an index, held one pair at a time; under `reverse-index` the server sorts.
 */
export function historyDifferences(
  services: VerifyServices,
  range: HandleRange,
  tally: Tally,
): AsyncGenerator<Difference> {
  const look = (some: readonly Pair[], tx: Tx) => looked(services, some, tx)
  return confirmed(
    services,
    misfits(services.collections, services.edges, within(range)),
    look,
    tally,
  )
}

async function looked(
  { collections: { follow_events, users }, edges }: VerifyServices,
  pairs: readonly Pair[],
  tx: Tx,
): Promise<Verdict> {
  const { collection, owner, other } = edges.following
  const ends = pairs.flatMap(({ follower, followee }) => [follower, followee])
  // A purge removes edges first and their history then.
  const leaving = await leavingAmong(users, ends, tx)
  const differences: Difference[] = []
  let inFlight = 0
  for (const pair of pairs) {
    const { follower, followee } = pair
    const edge = await collection.findOne(
      { [owner]: follower, [other]: followee } as Filter<StoredEdge>,
      { ...tx },
    )
    const events = follow_events
      .find({ user: follower, followee }, { ...tx, projection: { user: 1, followee: 1, type: 1 } })
      .sort({ _id: 1 })
    let row: PairHistory = { key: keyOf(pair) }
    for await (const history of historiesOf(events)) row = history
    if (edge) row = { ...row, edge: true }
    if (fits(row)) continue
    if (leaving.has(follower) || leaving.has(followee)) inFlight++
    else differences.push(...problems(pair, row))
  }
  return { differences, inFlight }
}

function problems(pair: Pair, { edge, last, repeated }: PairHistory): Difference[] {
  const subject = nameOf(pair)
  const wrong = (kind: string, expected: string, found: string): Difference[] => [
    { law: 'L3', kind, subject, expected, found },
  ]
  const stands = edge === true
  const agrees = stands === (last === 'FOLLOWED')
  return [
    ...(agrees
      ? []
      : wrong('history', stands ? 'FOLLOWED last' : 'none, or UNFOLLOWED last', last ?? 'none')),
    ...(repeated
      ? wrong('history-repeat', 'FOLLOWED and UNFOLLOWED in turn', `${repeated} twice`)
      : []),
  ]
}
