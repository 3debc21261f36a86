import { toObjectId } from '../../src/db/object-id.ts'
import type { PostId } from '../../src/lib/ids.ts'
import type { Services } from '../../src/services.ts'
import type { WriteRequest } from './writer-process.ts'

/** The number of likes that the post has before a load. */
const initialLikes = 100

/**
 * Compares the counters of a load's key with the stored documents, and both with the acknowledged
 * writes. A write that was answered with UNAVAILABLE may have been stored.
 * @throws with all counts if they differ.
 */
export async function verifyWrites(
  { collections }: Services,
  { kind, user, posts }: Pick<WriteRequest, 'kind' | 'user' | 'posts'>,
  acknowledged: number,
  unavailable: number,
): Promise<void> {
  const stats = await collections.user_stats.findOne({ _id: user })
  const counters: Record<string, number | undefined> = {}
  if (kind === 'like' || kind === 'likes of 100 posts') {
    const ids = posts.map((post) => toObjectId(post as PostId))
    const docs = await collections.posts.find({ _id: { $in: ids } }).toArray()
    const [overflowed] = await collections.overflow
      .aggregate<{ items: number; counts: number }>([
        { $match: { '_id.post': { $in: ids }, '_id.kind': 'likes' } },
        { $group: { _id: null, items: { $sum: { $size: '$items' } }, counts: { $sum: '$count' } } },
      ])
      .toArray()
    const before = initialLikes * posts.length
    const embedded = docs.reduce((sum, { likes = [] }) => sum + likes.length, -before)
    counters.counter = docs.reduce((sum, { counts }) => sum + (counts?.likes ?? 0), -before)
    counters.entries = embedded + (overflowed?.items ?? 0)
    counters.levelCounts = embedded + (overflowed?.counts ?? 0)
  } else if (kind === 'follow') {
    counters.counter = stats?.followers
    counters.followers = await collections.followers.countDocuments({ user })
    counters.following = await collections.following.countDocuments({ followee: user })
    counters.history = await collections.follow_events.countDocuments({ followee: user })
  } else {
    counters.counter = stats?.posts
    counters.posts = await collections.posts.countDocuments({ author: user })
  }
  const values = Object.values(counters)
  const [stored = -1] = values
  const agree = values.every((value) => value === stored)
  if (!agree || stored < acknowledged || stored > acknowledged + unavailable) {
    const details = JSON.stringify({ acknowledged, unavailable, ...counters })
    throw new Error(`${kind}: the stored data differs from the acknowledged writes: ${details}`)
  }
}
