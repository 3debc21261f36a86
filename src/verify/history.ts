import type { FollowEventDoc } from '../db/collections.ts'
import type { Filter } from '../db/mongo.ts'
import type { Tx } from '../db/transaction.ts'
import type { Side, StoredEdge } from '../follows/edges.ts'
import { leavingAmong } from './blocks.ts'
import { confirmed, type Difference, type Tally, type Verdict, type VerifyServices } from './run.ts'
import { nameOf, type Pair } from './sides.ts'
import { aligned, type HandleRange, within } from './walk.ts'

type Event = Pick<FollowEventDoc, 'user' | 'followee' | 'type'>

/** What is known of a pair; its key is in the order of both handles, since no handle holds a space. */
interface Row extends Partial<Pair> {
  readonly key: string
  readonly edge?: true
  readonly last?: FollowEventDoc['type']
  /** Of a type that came twice in a row. */
  readonly repeated?: FollowEventDoc['type']
}

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
  return confirmed(services, suspects(services, range), look, tally)
}

async function* suspects(services: VerifyServices, range: HandleRange): AsyncGenerator<Pair> {
  const { follow_events } = services.collections
  const events = follow_events
    .find({ user: within(range) }, { projection: { user: 1, followee: 1, type: 1 } })
    .sort({ user: 1, followee: 1, _id: 1 })
  const rows = aligned([edgesOf(services.edges.following, range), historyOf(events)])
  for await (const row of rows) {
    const { follower = '', followee = '' } = row
    if (!fits(row)) yield { follower, followee }
  }
}

async function* edgesOf(
  { collection, owner, other }: Side,
  range: HandleRange,
): AsyncGenerator<Row> {
  const filter = { [owner]: within(range) } as Filter<StoredEdge>
  const found = collection
    .find(filter, { projection: { _id: 0, [owner]: 1, [other]: 1 } })
    .sort({ [owner]: 1, [other]: 1 })
    .allowDiskUse()
  for await (const doc of found) {
    const [follower = '', followee = ''] = [doc[owner], doc[other]]
    yield { key: keyOf({ follower, followee }), follower, followee, edge: true }
  }
}

/** The history of one pair after the other. */
async function* historyOf(events: AsyncIterable<Event>): AsyncGenerator<Row> {
  let row: Row | undefined
  for await (const { user: follower, followee, type } of events) {
    const key = keyOf({ follower, followee })
    const before: Row = row?.key === key ? row : { key, follower, followee, last: 'UNFOLLOWED' }
    if (row && before !== row) yield row
    row = { ...before, last: type, ...(before.last === type ? { repeated: type } : {}) }
  }
  if (row) yield row
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
    let row: Row = { key: keyOf(pair) }
    for await (const history of historyOf(events)) row = history
    if (edge) row = { ...row, edge: true }
    if (fits(row)) continue
    if (leaving.has(follower) || leaving.has(followee)) inFlight++
    else differences.push(...problems(pair, row))
  }
  return { differences, inFlight }
}

const fits = ({ edge, last, repeated }: Row): boolean =>
  (edge === true) === (last === 'FOLLOWED') && repeated === undefined

function problems(pair: Pair, { edge, last, repeated }: Row): Difference[] {
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

const keyOf = ({ follower, followee }: Pair) => `${follower} ${followee}`
