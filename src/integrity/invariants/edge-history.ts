import type { FollowEventDoc } from '../../db/collections.ts'
import type { Filter } from '../../db/mongo.ts'
import type { EdgeIndex, StoredEdge } from '../../follows/edges.ts'
import { type PairRule, pairInvariant } from '../edge-repair.ts'
import type { IntegrityServices } from '../invariant.ts'
import { mergeJoin } from '../merge-join.ts'
import type { Pair } from '../pairs.ts'

/** The rule of {@link edgeHistory}. */
export const historyRule: PairRule = {
  ...{ name: 'edge-history', law: 'L3', kinds: ['history', 'history-repeat'] },
}

/**
 * Law L3: an edge exists exactly while FOLLOWED is the last event of its pair, and events alternate. The range is a
 * condition on the follower's handle.
 */
export const edgeHistory = (services: IntegrityServices) =>
  pairInvariant(services, [historyRule], (handles: object) => inconsistentPairs(services, handles))

/** The edge and the events of a pair. The key sorts by follower, then followee, since no handle contains a space. */
interface Row extends Partial<Pair> {
  readonly key: string
  readonly edge?: true
  readonly last?: FollowEventDoc['type']
  readonly repeated?: true
}

const keyOf = (follower: string, followee: string) => `${follower} ${followee}`

/**
 * Yields the pairs whose edge contradicts their history, or whose events repeat. Holds one pair at a time. Two commands
 * in the order of an index. Under `reverse-index` the server sorts.
 */
export async function* inconsistentPairs(
  { collections: { follow_events }, edges: { following } }: IntegrityServices,
  handles: object,
): AsyncGenerator<Pair> {
  const events = follow_events
    .find({ user: handles }, { projection: { _id: 0, user: 1, followee: 1, type: 1 } })
    .sort({ user: 1, followee: 1, _id: 1 })
  for await (const row of mergeJoin([edgesOf(following, handles), historiesOf(events)])) {
    const { follower = '', followee = '', edge, last, repeated } = row
    if ((edge === true) !== (last === 'FOLLOWED') || repeated) yield { follower, followee }
  }
}

async function* edgesOf(
  { collection, owner, other }: EdgeIndex,
  handles: object,
): AsyncGenerator<Row> {
  const filter = { [owner]: handles } as Filter<StoredEdge>
  const found = collection
    .find(filter, { projection: { _id: 0, [owner]: 1, [other]: 1 } })
    .sort({ [owner]: 1, [other]: 1 })
    .allowDiskUse()
  for await (const doc of found) {
    const [follower = '', followee = ''] = [doc[owner], doc[other]]
    yield { key: keyOf(follower, followee), follower, followee, edge: true }
  }
}

/** Reduces events, sorted by pair and time, to one row for each pair. */
async function* historiesOf(
  events: AsyncIterable<Pick<FollowEventDoc, 'user' | 'followee' | 'type'>>,
): AsyncGenerator<Row> {
  let row: Row | undefined
  for await (const { user: follower, followee, type } of events) {
    const key = keyOf(follower, followee)
    const before: Row = row?.key === key ? row : { key, follower, followee, last: 'UNFOLLOWED' }
    if (row && before !== row) yield row
    row = { ...before, last: type, ...(before.last === type ? { repeated: true } : {}) }
  }
  if (row) yield row
}
