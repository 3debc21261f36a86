import { Redis } from 'ioredis'
import type { Collections } from '../../../src/db/collections.ts'
import { chunks } from '../../../src/lib/batch.ts'
import { type PostId, timeOf } from '../../../src/lib/ids.ts'
import type { Graph } from '../../feeds/graph.ts'
import { avatarOf } from '../data.ts'
import { type Profile, redisKeys, timelineLength } from './redis-feed.ts'

/** The version of each reader's relations. */
export const firstVersion = '1'

type Command = [name: string, ...args: (string | number)[]]

/**
 * Stores the contents of Feedline's collections in Redis. The timelines hold the posts that were delivered by `graph`, the
 * follows at that time.
 */
export async function fillRedis(
  port: number,
  { users, following, restrictions, posts, engagements_by_user }: Collections,
  graph: Graph,
): Promise<void> {
  const redis = new Redis({ port })
  try {
    const commands: Command[] = []
    const accounts = await users.find({ deletedAt: { $exists: false } }).toArray()
    for (const { _id, name = _id, avatarUrl = avatarOf(_id) } of accounts) {
      const profile: Profile = { name, avatarUrl }
      commands.push(['set', redisKeys.profile(_id), JSON.stringify(profile)])
      commands.push(['set', redisKeys.version(_id), firstVersion])
    }
    for (const { user, followee } of await following.find().toArray()) {
      commands.push(['sadd', redisKeys.following(user), followee])
      commands.push(['sadd', redisKeys.followers(followee), user])
    }
    for (const { owner, other, kind } of await restrictions.find().toArray()) {
      const key = kind === 'MUTE' ? redisKeys.muted(owner) : redisKeys.blocked(owner)
      commands.push(['sadd', key, other])
    }
    for (const { _id, author, text, counts } of await posts.find().sort({ _id: 1 }).toArray()) {
      const id = _id.toHexString() as PostId
      const [score, entry] = [timeOf(id).getTime(), `${id}:${author}`]
      commands.push(['set', redisKeys.text(id), text])
      if (counts?.likes) commands.push(['set', redisKeys.likes(id), counts.likes])
      commands.push(['zadd', redisKeys.posts(author), score, entry])
      for (const reader of [author, ...(graph.followers.get(author as never) ?? [])])
        commands.push(['zadd', redisKeys.timeline(reader), score, entry])
    }
    for (const { user, post } of await engagements_by_user.find({ kind: 'likes' }).toArray()) {
      commands.push(['sadd', redisKeys.liked(user), post.toHexString()])
    }
    for (const user of graph.users)
      commands.push(['zremrangebyrank', redisKeys.timeline(user), 0, -timelineLength - 1])
    for (const batch of chunks(commands, 5_000)) await redis.pipeline([...batch]).exec()
  } finally {
    redis.disconnect()
  }
}
