import type { FeedPage } from './redis-feed.ts'

/** What a server of the feed on Redis needs. */
export interface RedisServerConfig {
  readonly redisPort: number
  /** Whether pages are checked. */
  readonly checks: boolean
}

/** A page in the shape of Feedline's answers. */
export const toConnection = ({ posts, hasNextPage }: FeedPage) => ({
  edges: posts.map((node) => ({ node, cursor: node.id })),
  pageInfo: { hasNextPage, endCursor: posts.at(-1)?.id ?? null },
})
