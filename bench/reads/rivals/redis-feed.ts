import type { Redis } from 'ioredis'
import { IdMint, type PostId, timeOf } from '../../../src/lib/ids.ts'
import type { PagePost } from '../side.ts'

/** The keys of the feed in Redis. An entry of a timeline is `POST:AUTHOR`, with the time of the post as its score. */
export const redisKeys = {
  timeline: (reader: string) => `timeline:${reader}`,
  posts: (author: string) => `posts:${author}`,
  text: (post: string) => `text:${post}`,
  likes: (post: string) => `likes:${post}`,
  liked: (user: string) => `liked:${user}`,
  /** Absent for a user without an account. */
  name: (user: string) => `name:${user}`,
  following: (user: string) => `following:${user}`,
  followers: (user: string) => `followers:${user}`,
  muted: (user: string) => `muted:${user}`,
  /** Blocks in both directions. */
  blocked: (user: string) => `blocked:${user}`,
} as const

/** The number of newest entries that a timeline keeps. */
export const timelineLength = 400

/** What is read. */
export interface FeedQuery {
  readonly limit: number
  /** Whether names, counts and the viewer's flags are read. */
  readonly counts: boolean
  /** Returns only posts that are newer. */
  readonly since?: string | undefined
}

/** A page, and whether another one follows. */
export interface FeedPage {
  readonly posts: readonly PagePost[]
  readonly hasNextPage: boolean
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
export class RedisFeed {
  private readonly mint = new IdMint(Date.now)
  private created = 0

  /** @param checks whether each page checks follows, mutes, blocks and accounts, as Feedline's does. */
  constructor(
    private readonly redis: Redis,
    private readonly checks: boolean,
  ) {}

  /** The newest posts of a reader's timeline. Two round trips, and two more for each refill. */
  async readTimeline(reader: string, query: FeedQuery): Promise<FeedPage> {
    const posts: PagePost[] = []
    const wanted = query.limit + oneMore
    for (let offset = 0; posts.length < wanted; offset += wanted) {
      const entries = await this.readEntries(redisKeys.timeline(reader), query, offset, wanted)
      posts.push(...(await this.loadPosts(reader, entries, query.counts, true)))
      if (entries.length < wanted) break
    }
    return { posts: posts.slice(0, query.limit), hasNextPage: posts.length > query.limit }
  }

  /** The newest posts of an author, none if a block hides them. Two round trips. */
  async readAuthorPosts(reader: string, author: string, limit: number): Promise<FeedPage> {
    const query = { limit, counts: true }
    const entries = await this.readEntries(redisKeys.posts(author), query, 0, limit + oneMore)
    const posts = await this.loadPosts(reader, entries, true, false)
    return { posts: posts.slice(0, limit), hasNextPage: posts.length > limit }
  }

  /** Creates a post and pushes it to the author and all followers. Two round trips. @returns its id. */
  async createPost(author: string, text: string): Promise<string> {
    const [name, followers] = await this.send(
      this.redis.pipeline().get(redisKeys.name(author)).smembers(redisKeys.followers(author)),
    )
    if (name === null) throw new Error(`${author} has no account`)
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

  private async readEntries(
    key: string,
    { since }: FeedQuery,
    offset: number,
    limit: number,
  ): Promise<Entry[]> {
    // Posts of the same millisecond are in the order of their ids.
    const found = since
      ? await this.redis.zrevrangebyscore(
          ...([key, '+inf', timeOf(since as PostId).getTime(), 'LIMIT', offset, limit] as const),
        )
      : await this.redis.zrevrange(key, offset, offset + limit - 1)
    const entries = found.map((entry) => ({ id: entry.slice(0, 24), author: entry.slice(25) }))
    return since ? entries.filter(({ id }) => id > since) : entries
  }

  /** Loads posts with one round trip. Leaves out deleted posts, and with checks the posts that the reader may not see. */
  private async loadPosts(
    reader: string,
    entries: readonly Entry[],
    counts: boolean,
    followedOnly: boolean,
  ): Promise<PagePost[]> {
    if (entries.length === 0) return []
    const ids = entries.map(({ id }) => id)
    const authors = [...new Set(entries.map(({ author }) => author))]
    const { checks } = this
    const relation = (key: 'following' | 'muted' | 'blocked') => [
      ...['smismember', redisKeys[key](reader), ...authors],
    ]
    const { texts, names, likes, liked, following, muted, blocked } = await this.sendNamed({
      texts: ['mget', ...ids.map(redisKeys.text)],
      ...(checks || counts ? { names: ['mget', ...authors.map(redisKeys.name)] } : {}),
      ...(counts ? { likes: ['mget', ...ids.map(redisKeys.likes)] } : {}),
      ...(counts ? { liked: ['smismember', redisKeys.liked(reader), ...ids] } : {}),
      ...(checks ? { following: relation('following') } : {}),
      ...(checks ? { muted: relation('muted'), blocked: relation('blocked') } : {}),
    })
    const isVisible = (author: string, at: number) => {
      if (!checks) return true
      if (names?.[at] === null || blocked?.[at] === 1) return false
      const isShown = following?.[at] === 1 && muted?.[at] !== 1
      return !followedOnly || author === reader || isShown
    }
    const visible = new Map(
      authors.flatMap((author, at) =>
        isVisible(author, at) ? [[author, String(names?.[at] ?? author)] as const] : [],
      ),
    )
    return entries.flatMap(({ id, author }, at) => {
      const text = texts?.[at]
      if (typeof text !== 'string' || !visible.has(author)) return []
      const createdAt = timeOf(id as PostId).toISOString()
      if (!counts) return { id, text, createdAt, author: { handle: author } }
      return {
        ...{ id, text, createdAt, author: { handle: author, name: visible.get(author) ?? author } },
        likeCount: Number(likes?.[at] ?? 0),
        viewerHasLiked: liked?.[at] === 1,
      }
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
