import { toObjectId } from '../db/object-id.ts'
import type { Tx } from '../db/transaction.ts'
import type { FollowEdge } from '../follows/edges.ts'
import { lastEvents } from '../follows/last-events.ts'
import { inOrderOf, pairKey } from '../follows/pair-lists.ts'
import { type EdgeId, timeOf } from '../lib/ids.ts'
import { importOf } from './checkpoint.ts'
import type { ImportServices } from './importer.ts'

/**
 * Records in the history that imported edges began. The event has the id of its edge, or a higher one if the pair has a
 * later event: so it is the last event of the pair (law L3). One command; two if a pair may have a history, one more if
 * any pair has an event later than the import, and one more if one of these pairs has.
 * @param older those of the edges whose pairs may have a history.
 */
export async function recordFollows(
  { collections, edges }: Pick<ImportServices, 'collections' | 'edges'>,
  tx: Tx,
  follows: readonly FollowEdge[],
  older: readonly FollowEdge[],
): Promise<void> {
  const higher = await higherIds({ collections, edges }, tx, older)
  const docs = inOrderOf(follows, 'follower', 'followee').map(
    ({ id, follower, followee, source }) => ({
      _id: toObjectId(higher.get(id) ?? id),
      user: follower,
      followee,
      type: 'FOLLOWED' as const,
      source,
      at: timeOf(id),
    }),
  )
  await collections.follow_events.insertMany(docs, { session: tx.session })
}

/** New ids for the events of edges whose pairs have a later event, by the id of the edge. */
async function higherIds(
  { collections, edges }: Pick<ImportServices, 'collections' | 'edges'>,
  tx: Tx,
  older: readonly FollowEdge[],
): Promise<ReadonlyMap<EdgeId, EdgeId>> {
  if (older.length === 0 || !(await hasLaterEvents(collections, tx, older))) return new Map()
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

/** Whether any event is later than these edges, apart from those of the same import. One command on one index key. */
async function hasLaterEvents(
  { follow_events }: Pick<ImportServices['collections'], 'follow_events'>,
  { session }: Tx,
  follows: readonly FollowEdge[],
): Promise<boolean> {
  const imports = new Set(follows.map(({ id }) => importOf(id)))
  const [highest, ...others] = [...imports].map((prefix) => prefix.padEnd(24, 'f') as EdgeId)
  if (highest === undefined || others.length > 0) return true
  const later = { _id: { $gt: toObjectId(highest) } }
  const options = { session, hint: { _id: 1 }, projection: { _id: 1 } } as const
  return (await follow_events.findOne(later, options)) !== null
}
