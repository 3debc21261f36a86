import { atOnce, bounded } from '../db/client.ts'
import type { Collections } from '../db/collections.ts'
import type { Follows } from '../follows/follows.ts'
import type { PostRef, UserId } from '../lib/ids.ts'
import type { Pair } from './backfill.ts'

/** Deliveries looked at before it is taken for granted that one of them concerns the reader. */
const deliveriesMax = 200

/** Tells which deliveries have not come to their end, those that were parked included. */
export class Pending {
  constructor(
    private readonly outbox: Collections['outbox'],
    private readonly follows: Follows,
  ) {}

  /** Whether something may still be on its way to the reader. Two commands, and one more while anything is delivered. */
  async to(reader: UserId): Promise<boolean> {
    const [posts, follow] = await Promise.all([
      this.outbox
        .find({ kind: 'post.created' }, { ...atOnce, projection: { _id: 0, 'payload.author': 1 } })
        .limit(deliveriesMax)
        .toArray(),
      this.outbox.findOne(
        { kind: 'follow.created', 'payload.author': null, 'payload.follower': reader },
        { ...bounded, projection: { _id: 1 } },
      ),
    ])
    if (follow || posts.length >= deliveriesMax) return true
    const authors = [...new Set(posts.map(({ payload }) => payload.author as UserId))]
    if (authors.length === 0 || authors.includes(reader)) return authors.length > 0
    return (await this.follows.followeesAmong(reader, authors)).size > 0
  }

  /** Whether a post is being delivered, or all of a followee's posts to a follower. One command. */
  async isUnderWay({ id, author }: PostRef, { follower, followee }: Pair): Promise<boolean> {
    const found = await this.outbox.findOne(
      {
        $or: [
          { kind: 'post.created', 'payload.author': author, 'payload.post': id },
          {
            kind: 'follow.created',
            'payload.author': null,
            'payload.follower': follower,
            'payload.followee': followee,
          },
        ],
      },
      { ...bounded, projection: { _id: 1 } },
    )
    return found !== null
  }
}
