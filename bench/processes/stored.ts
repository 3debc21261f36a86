import { toObjectId } from '../../src/db/object-id.ts'
import type { PostId } from '../../src/lib/ids.ts'
import type { Services } from '../../src/services.ts'
import type { Order } from './child.ts'

/** The likes that a popular post has before a load. */
const earlyLikes = 100

/**
 * Sees that the counters of a load's key equal what is stored, and that it is what was acknowledged. A write that was
 * answered UNAVAILABLE may have been stored.
 * @throws with all figures when they differ.
 */
export async function checkStored(
  { collections }: Services,
  { way, user, post }: Pick<Order, 'way' | 'user' | 'post'>,
  acknowledged: number,
  unavailable: number,
): Promise<void> {
  const stats = await collections.user_stats.findOne({ _id: user })
  const found: Record<string, number | undefined> = {}
  if (way === 'like') {
    const stored = await collections.posts.findOne({ _id: toObjectId(post as PostId) })
    const [beyond] = await collections.overflow
      .aggregate<{ items: number; counts: number }>([
        { $match: { '_id.post': toObjectId(post as PostId), '_id.kind': 'likes' } },
        { $group: { _id: null, items: { $sum: { $size: '$items' } }, counts: { $sum: '$count' } } },
      ])
      .toArray()
    const embedded = stored?.likes?.length ?? 0
    found.counter = (stored?.counts?.likes ?? 0) - earlyLikes
    found.entries = embedded + (beyond?.items ?? 0) - earlyLikes
    found.levelCounts = embedded + (beyond?.counts ?? 0) - earlyLikes
  } else if (way === 'follow') {
    found.counter = stats?.followers
    found.followers = await collections.followers.countDocuments({ user })
    found.following = await collections.following.countDocuments({ followee: user })
    found.history = await collections.follow_events.countDocuments({ followee: user })
  } else {
    found.counter = stats?.posts
    found.posts = await collections.posts.countDocuments({ author: user })
  }
  const values = Object.values(found)
  const [first = -1] = values
  const agree = values.every((value) => value === first)
  if (!agree || first < acknowledged || first > acknowledged + unavailable) {
    const figures = JSON.stringify({ acknowledged, unavailable, ...found })
    throw new Error(`${way}: stored is not what was acknowledged: ${figures}`)
  }
}
