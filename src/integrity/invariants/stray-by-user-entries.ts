import type { EngagementByUserDoc } from '../../db/collections.ts'
import type { ObjectId } from '../../db/mongo.ts'
import { toObjectId } from '../../db/object-id.ts'
import { conforms, shapes, wellFormed } from '../../db/shapes.ts'
import type { Tx } from '../../db/transaction.ts'
import { engagementKinds } from '../../engagement/kinds.ts'
import { arrayIn } from '../../engagement/list-store.ts'
import { byRecency } from '../../engagement/user-index.ts'
import { batches } from '../../lib/batch.ts'
import { type EngagementId, timeIdAt } from '../../lib/ids.ts'
import { findingOf, type IntegrityServices, type Invariant, type Violation } from '../invariant.ts'
import { hasMalformed, uncertain } from './document-shapes.ts'

const invariant = { name: 'stray-by-user-entries', law: 'L2' } as const

/**
 * The age at which a by-user entry must have its like, comment or share, in milliseconds by the database's clock. It is
 * written first.
 */
const settledMs = 30_000
const entriesAtOnce = 1_000

interface StrayViolation extends Violation {
  readonly stray: EngagementByUserDoc
}

/**
 * Law L2: each by-user entry has its like, comment or share in the post's list. Reads skip a stray one, and the repair
 * deletes it. The range is a condition on the handle of a user. Three commands for 1,000 by-user entries.
 */
export const strayByUserEntries = (
  services: IntegrityServices,
): Invariant<object, EngagementByUserDoc, StrayViolation> => ({
  ...invariant,
  async *scan(handles) {
    const { engagements_by_user } = services.collections
    const [clock] = await engagements_by_user.db
      .aggregate<{ now: Date }>([{ $documents: [{}] }, { $project: { now: '$$NOW' } }])
      .toArray()
    const settled = timeIdAt<EngagementId>((clock?.now.getTime() ?? 0) - settledMs, '0'.repeat(12))
    const old = { user: handles, _id: { $lt: toObjectId(settled) } }
    const entries = engagements_by_user.find(old, { hint: byRecency })
    for await (const some of batches(entries, entriesAtOnce)) {
      yield* await findStrays(
        services,
        some.filter((one) => conforms(shapes.engagements_by_user, one)),
      )
    }
  },
  async recheck(some, at) {
    const among = { _id: { $in: some.map(({ _id }) => _id) } }
    const standing = await services.collections.engagements_by_user.find(among, { ...at }).toArray()
    const strays = await findStrays(services, standing, at)
    const isUncertain =
      strays.length > 0 &&
      ((await hasMalformed(services, 'posts')) || (await hasMalformed(services, 'overflow')))
    const violations = strays.map((stray) => ({
      stray,
      finding: findingOf(invariant, {
        kind: 'stray-by-user',
        subject: `${stray.user} ${stray.kind} ${stray._id}`,
        expected: `an entry in ${stray.post}.${stray.kind}`,
        found: 'none',
        harmless: true,
        ...(isUncertain ? uncertain : {}),
      }),
    }))
    return { violations }
  },
  async repair({ session }, violations) {
    const strays = violations.map(({ stray: { _id, user } }) => ({ _id, user }))
    await services.collections.engagements_by_user.deleteMany({ $or: strays }, { session })
  },
})

/** The by-user entries whose entry is in no list. Two commands. */
async function findStrays(
  { collections: { posts, overflow } }: IntegrityServices,
  byUser: readonly EngagementByUserDoc[],
  at?: Tx,
): Promise<EngagementByUserDoc[]> {
  if (byUser.length === 0) return []
  const ids = byUser.map(({ _id }) => _id)
  const own = [...new Map(byUser.map(({ post }) => [post.toHexString(), post])).values()]
  const embeddedIds = engagementKinds.map((kind) => ({
    $map: { input: arrayIn(kind), in: '$$this._id' },
  }))
  const among = (list: unknown) => [
    { $project: { _id: 0, id: { $setIntersection: [list, ids] } } },
    { $unwind: '$id' },
  ]
  const inPosts = posts.aggregate<{ id: ObjectId }>(
    [
      { $match: { _id: { $in: own }, ...wellFormed('posts') } },
      ...among({ $concatArrays: embeddedIds }),
    ],
    { ...at },
  )
  const beyond = overflow.aggregate<{ id: ObjectId }>(
    [
      {
        $match: { '_id.post': { $in: own }, 'items._id': { $in: ids }, ...wellFormed('overflow') },
      },
      ...among('$items._id'),
    ],
    { ...at },
  )
  const found = new Set<string>()
  for await (const { id } of inPosts) found.add(id.toHexString())
  for await (const { id } of beyond) found.add(id.toHexString())
  return byUser.filter(({ _id }) => !found.has(_id.toHexString()))
}
