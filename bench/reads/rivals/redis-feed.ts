import type { Redis } from 'ioredis'
import { IdMint, type PostId, timeOf } from '../../../src/lib/ids.ts'
import type { PagePost } from '../side.ts'
import type { FeedPage, FeedQuery, RivalFeed } from './rival-feed.ts'

/** The keys of the feed in Redis. An entry of a timeline is `POST:AUTHOR`, with the time of the post as its score. */
export const redisKeys = {
  timeline: (reader: string) => `timeline:${reader}`,
  posts: (author: string) => `posts:${author}`,
  text: (post: string) => `text:${post}`,
  likes: (post: string) => `likes:${post}`,
  liked: (user: string) => `liked:${user}`,
  /** A {@link Profile} as JSON. Absent for a user without an account. */
  profile: (user: string) => `profile:${user}`,
  /** A new value for each change of follows, mutes and blocks. A client polls with the last one. */
  version: (reader: string) => `version:${reader}`,
  following: (user: string) => `following:${user}`,
  followers: (user: string) => `followers:${user}`,
  muted: (user: string) => `muted:${user}`,
  /** Blocks in both directions. */
  blocked: (user: string) => `blocked:${user}`,
} as const

/** The number of newest entries that a timeline keeps. */
export const timelineLength = 400

/** The profile of a user. */
export interface Profile {
  readonly name: string
  readonly avatarUrl: string
}

interface Entry {
  readonly id: string
  readonly author: string
}

/** A page and its next entry. */
const oneMore = 1
/** How many posts of this process are delivered between two that also trim the timelines. */
const trimEvery = 64

/** A feed on Redis by the usual recipe: fan-out on write into a sorted set per reader. */
export class RedisFeed implements RivalFeed {
  private readonly mint = new IdMint(Date.now)
  private created = 0

  constructor(private readonly redis: Redis) {}

  /** Two round trips, and two more for each refill. A poll without news takes one, which also reads the version. */
  async readTimeline(reader: string, query: FeedQuery): Promise<FeedPage> {
    if (query.since) return this.readNews(reader, query, query.since)
    const posts: PagePost[] = []
    const wanted = query.limit + oneMore
    for (let offset = 0; posts.length < wanted; offset += wanted) {
      const entries = await this.readEntries(redisKeys.timeline(reader), offset, wanted)
      posts.push(...(await this.loadPosts(reader, entries, query.counts, true)))
      if (entries.length < wanted) break
    }
    return { posts: posts.slice(0, query.limit), hasNextPage: posts.length > query.limit }
  }

  /** Two round trips. */
  async readAuthorPosts(reader: string, author: string, limit: number): Promise<FeedPage> {
    const entries = await this.readEntries(redisKeys.posts(author), 0, limit + oneMore)
    const posts = await this.loadPosts(reader, entries, true, false)
    return { posts: posts.slice(0, limit), hasNextPage: posts.length > limit }
  }

  /** Pushes the post to the author and all followers. Two round trips. It is not atomic: a crash leaves a part of it. */
  async createPost(author: string, text: string): Promise<string> {
    const [profile, followers] = await this.send(
      this.redis.pipeline().get(redisKeys.profile(author)).smembers(redisKeys.followers(author)),
    )
    if (profile === null) throw new Error(`${author} has no account`)
    const id = this.mint.next<PostId>()
    const [score, entry] = [timeOf(id).getTime(), `${id}:${author}`]
    const trims = this.created++ % trimEvery === 0
    const pipeline = this.redis.pipeline()
    pipeline.set(redisKeys.text(id), text).zadd(redisKeys.posts(author), score, entry)
    for (const reader of [author, ...(followers as string[])]) {
      const key = redisKeys.timeline(reader)
      pipeline.zadd(key, score, entry)
      if (trims) pipeline.zremrangebyrank(key, 0, -timelineLength - 1)
    }
    await this.send(pipeline)
    return id
  }

  private async readNews(
    reader: string,
    { limit, counts }: FeedQuery,
    since: string,
  ): Promise<FeedPage> {
    const key = redisKeys.timeline(reader)
    // Posts of the same millisecond are in the order of their ids.
    const from = timeOf(since as PostId).getTime()
    const [members, version] = await this.send(
      this.redis
        .pipeline()
        .zrevrangebyscore(key, '+inf', from, 'LIMIT', 0, limit + oneMore)
        .get(redisKeys.version(reader)),
    )
    const entries = (members as string[]).map(toEntry).filter(({ id }) => id > since)
    const posts = await this.loadPosts(reader, entries, counts, true)
    const hasNextPage = posts.length > limit
    return { posts: posts.slice(0, limit), hasNextPage, version: String(version ?? '') }
  }

  private async readEntries(key: string, offset: number, limit: number): Promise<Entry[]> {
    return (await this.redis.zrevrange(key, offset, offset + limit - 1)).map(toEntry)
  }

  /** Loads posts with one round trip. Leaves out deleted posts, and posts that the reader may not see. */
  private async loadPosts(
    reader: string,
    entries: readonly Entry[],
    counts: boolean,
    followedOnly: boolean,
  ): Promise<PagePost[]> {
    if (entries.length === 0) return []
    const ids = entries.map(({ id }) => id)
    const authors = [...new Set(entries.map(({ author }) => author))]
    const relation = (key: 'following' | 'muted' | 'blocked') => [
      ...['smismember', redisKeys[key](reader), ...authors],
    ]
    const { texts, profiles, likes, liked, following, muted, blocked } = await this.sendNamed({
      texts: ['mget', ...ids.map(redisKeys.text)],
      profiles: ['mget', ...authors.map(redisKeys.profile)],
      ...(counts ? { likes: ['mget', ...ids.map(redisKeys.likes)] } : {}),
      ...(counts ? { liked: ['smismember', redisKeys.liked(reader), ...ids] } : {}),
      following: relation('following'),
      muted: relation('muted'),
      blocked: relation('blocked'),
    })
    const isVisible = (author: string, at: number) => {
      if (profiles?.[at] === null || blocked?.[at] === 1) return false
      const isShown = following?.[at] === 1 && muted?.[at] !== 1
      return !followedOnly || author === reader || isShown
    }
    const visible = new Map(
      authors.flatMap((author, at) =>
        isVisible(author, at)
          ? [[author, counts ? (JSON.parse(String(profiles?.[at])) as Profile) : {}] as const]
          : [],
      ),
    )
    return entries.flatMap(({ id, author: handle }, at) => {
      const [text, profile] = [texts?.[at], visible.get(handle)]
      if (typeof text !== 'string' || !profile) return []
      const createdAt = timeOf(id as PostId).toISOString()
      const post = { id, text, createdAt, author: { handle, ...profile } }
      if (!counts) return post
      return { ...post, likeCount: Number(likes?.[at] ?? 0), viewerHasLiked: liked?.[at] === 1 }
    })
  }

  /** Sends commands that answer with lists, with one round trip. @returns the lists by name. @throws the first error. */
  private async sendNamed(
    commands: Readonly<Record<string, readonly string[]>>,
  ): Promise<Readonly<Record<string, readonly (string | number | null)[]>>> {
    const lists = await this.send(
      this.redis.pipeline(Object.values(commands).map((all) => [...all])),
    )
    return Object.fromEntries(
      Object.keys(commands).map((name, at) => [name, lists[at] as (string | number | null)[]]),
    )
  }

  /** Sends commands with one round trip. @returns their results in order. @throws the first error. */
  private async send(pipeline: ReturnType<Redis['pipeline']>): Promise<unknown[]> {
    const results = (await pipeline.exec()) ?? []
    return results.map(([error, result]) => {
      if (error) throw error
      return result
    })
  }
}

const toEntry = (member: string): Entry => ({ id: member.slice(0, 24), author: member.slice(25) })
