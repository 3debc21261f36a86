import type { Collections, FollowEventDoc } from '../db/collections.ts'
import type { Filter } from '../db/mongo.ts'
import type { Edges, Side, StoredEdge } from '../follows/edges.ts'
import type { Pair } from './sides.ts'
import { aligned } from './walk.ts'

/** What of an event tells whether an edge stands. */
export type PairEvent = Pick<FollowEventDoc, 'user' | 'followee' | 'type'>

/** What is known of a pair; its key is in the order of both handles, since no handle holds a space. */
export interface PairHistory extends Partial<Pair> {
  readonly key: string
  readonly edge?: true
  readonly last?: FollowEventDoc['type']
  /** Of a type that came twice in a row. */
  readonly repeated?: FollowEventDoc['type']
}

export const keyOf = ({ follower, followee }: Pair): string => `${follower} ${followee}`

/** Whether edge and history agree, and events take turns. */
export const fits = ({ edge, last, repeated }: PairHistory): boolean =>
  (edge === true) === (last === 'FOLLOWED') && repeated === undefined

/**
 * Pairs of a range's followers whose history does not say of an edge what is so, or begins or ends one twice in a row.
 * Two commands in the order of an index, held one pair at a time; under `reverse-index` the server sorts.
 */
export async function* misfits(
  { follow_events }: Pick<Collections, 'follow_events'>,
  { following }: Edges,
  handles: object,
): AsyncGenerator<Pair> {
  const events = follow_events
    .find({ user: handles }, { projection: { _id: 0, user: 1, followee: 1, type: 1 } })
    .sort({ user: 1, followee: 1, _id: 1 })
  for await (const row of aligned([edgesOf(following, handles), historiesOf(events)])) {
    const { follower = '', followee = '' } = row
    if (!fits(row)) yield { follower, followee }
  }
}

async function* edgesOf(
  { collection, owner, other }: Side,
  handles: object,
): AsyncGenerator<PairHistory> {
  const filter = { [owner]: handles } as Filter<StoredEdge>
  const found = collection
    .find(filter, { projection: { _id: 0, [owner]: 1, [other]: 1 } })
    .sort({ [owner]: 1, [other]: 1 })
    .allowDiskUse()
  for await (const doc of found) {
    const [follower = '', followee = ''] = [doc[owner], doc[other]]
    yield { key: keyOf({ follower, followee }), follower, followee, edge: true }
  }
}

/** The history of one pair after the other, of events in the order of pairs and time. */
export async function* historiesOf(events: AsyncIterable<PairEvent>): AsyncGenerator<PairHistory> {
  let row: PairHistory | undefined
  for await (const { user: follower, followee, type } of events) {
    const key = keyOf({ follower, followee })
    const before: PairHistory =
      row?.key === key ? row : { key, follower, followee, last: 'UNFOLLOWED' }
    if (row && before !== row) yield row
    row = { ...before, last: type, ...(before.last === type ? { repeated: type } : {}) }
  }
  if (row) yield row
}
