import type { EngagementByUserDoc } from '../../db/collections.ts'
import type { ObjectId } from '../../db/mongo.ts'
import { toObjectId } from '../../db/object-id.ts'
import type { Tx } from '../../db/transaction.ts'
import { engagementKinds } from '../../engagement/kinds.ts'
import { embedded } from '../../engagement/list-store.ts'
import { batches } from '../../lib/batch.ts'
import { type EngagementId, timeIdAt } from '../../lib/ids.ts'
import { findingOf, type IntegrityServices, type Invariant, type Violation } from '../invariant.ts'

const invariant = { name: 'engagement-rows', law: 'L2' } as const

/** The age at which a row must have its entry, in milliseconds by the database's clock. The row is written first. */
const settledMs = 30_000
const rowsAtOnce = 1_000

interface RowViolation extends Violation {
  readonly row: EngagementByUserDoc
}

/**
 * Law L2: each row of the log `engagements_by_user` has its entry in the post's list. Reads skip a row without an
 * entry, and the repair deletes it. The range is a condition on the handle of a user. Three commands for 1,000 rows.
 */
export const engagementRows = (
  services: IntegrityServices,
): Invariant<object, EngagementByUserDoc, RowViolation> => ({
  ...invariant,
  async *scan(handles) {
    const { engagements_by_user } = services.collections
    const [clock] = await engagements_by_user.db
      .aggregate<{ now: Date }>([{ $documents: [{}] }, { $project: { now: '$$NOW' } }])
      .toArray()
    const settled = timeIdAt<EngagementId>((clock?.now.getTime() ?? 0) - settledMs, '0'.repeat(12))
    const rows = engagements_by_user.find({ user: handles, _id: { $lt: toObjectId(settled) } })
    for await (const some of batches(rows, rowsAtOnce)) yield* await unbacked(services, some)
  },
  async recheck(rows, at) {
    const among = { _id: { $in: rows.map(({ _id }) => _id) } }
    const standing = await services.collections.engagements_by_user.find(among, { ...at }).toArray()
    const violations = (await unbacked(services, standing, at)).map((row) => ({
      row,
      finding: findingOf(invariant, {
        kind: 'row',
        subject: `${row.user} ${row.kind} ${row._id}`,
        expected: `an entry in ${row.post}.${row.kind}`,
        found: 'none',
        harmless: true,
      }),
    }))
    return { violations }
  },
  async repair({ session }, violations) {
    const rows = violations.map(({ row: { _id, user } }) => ({ _id, user }))
    await services.collections.engagements_by_user.deleteMany({ $or: rows }, { session })
  },
})

/** The rows whose entry is in no list. Two commands. */
async function unbacked(
  { collections: { posts, overflow } }: IntegrityServices,
  rows: readonly EngagementByUserDoc[],
  at?: Tx,
): Promise<EngagementByUserDoc[]> {
  if (rows.length === 0) return []
  const ids = rows.map(({ _id }) => _id)
  const own = [...new Map(rows.map(({ post }) => [post.toHexString(), post])).values()]
  const entries = engagementKinds.map((kind) => ({
    $map: { input: embedded(kind), in: '$$this._id' },
  }))
  const among = (list: unknown) => [
    { $project: { _id: 0, id: { $setIntersection: [list, ids] } } },
    { $unwind: '$id' },
  ]
  const inPosts = posts.aggregate<{ id: ObjectId }>(
    [{ $match: { _id: { $in: own } } }, ...among({ $concatArrays: entries })],
    { ...at },
  )
  const beyond = overflow.aggregate<{ id: ObjectId }>(
    [{ $match: { '_id.post': { $in: own }, 'items._id': { $in: ids } } }, ...among('$items._id')],
    { ...at },
  )
  const found = new Set<string>()
  for await (const { id } of inPosts) found.add(id.toHexString())
  for await (const { id } of beyond) found.add(id.toHexString())
  return rows.filter(({ _id }) => !found.has(_id.toHexString()))
}
