import type { ObjectId } from '../../db/mongo.ts'
import { orphanedKind } from '../../engagement/orphaned.ts'
import { findingOf, type IntegrityServices, type Invariant, type Violation } from '../invariant.ts'
import type { ScannedPosts } from '../snapshot-scan.ts'
import { hasMalformed, uncertain } from './document-shapes.ts'

const kind = orphanedKind

const invariant = { name: 'orphaned-engagement', law: 'L2' } as const

interface OrphanViolation extends Violation {
  readonly post: string
}

/**
 * Law L2: likes, comments and shares of a deleted post have a job that deletes them. The suspects come from a
 * {@link SnapshotScan}. A recheck is two commands.
 */
export const orphanedEngagement = (
  services: IntegrityServices,
): Invariant<ScannedPosts, ObjectId, OrphanViolation> => ({
  ...invariant,
  async *scan({ orphans }) {
    yield* orphans
  },
  async recheck(ids, at) {
    const { posts, outbox } = services.collections
    const among = { _id: { $in: [...ids] } }
    const there = await posts.find(among, { ...at, projection: { _id: 1 } }).toArray()
    const existing = new Set(there.map(({ _id }) => _id.toHexString()))
    const left = ids.map((id) => id.toHexString()).filter((id) => !existing.has(id))
    const about = { kind, 'payload.post': { $in: left } }
    const found = await outbox.find(about, { ...at }).toArray()
    const cleared = new Set(found.map(({ payload }) => payload.post))
    const lost = left.filter((post) => !cleared.has(post))
    const isUncertain = lost.length > 0 && (await hasMalformed(services, 'posts'))
    const violations = lost.map((post) => {
      const [expected, found] = [
        'a job that clears what a deleted post left',
        'overflow without a post',
      ]
      const more = isUncertain ? uncertain : {}
      const about = { kind: 'remains', subject: post, expected, found, ...more }
      return { post, finding: findingOf(invariant, about) }
    })
    return { violations, inFlight: left.length - violations.length }
  },
  async repair(tx, violations) {
    await services.outbox.enqueue(
      tx,
      violations.map(({ post }) => ({ kind, payload: { post } })),
    )
  },
})
