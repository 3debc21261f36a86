import type { PagePost } from '../side.ts'

/** What of a timeline is read. */
export interface FeedQuery {
  readonly limit: number
  /** Whether names, avatars, counts and the viewer's flags are read. */
  readonly counts: boolean
  /** Returns only posts that are newer. */
  readonly since?: string | undefined
}

/** A page, and whether another one follows. */
export interface FeedPage {
  readonly posts: readonly PagePost[]
  readonly hasNextPage: boolean
  /** The version of the reader's relations. Only in an answer to a poll, of a feed with polls. */
  readonly version?: string | undefined
}

/** A feed of a rival, with Feedline's checks on each read: follows, mutes, blocks in both directions, and accounts. */
export interface RivalFeed {
  /** The newest posts of a reader's timeline. */
  readTimeline(reader: string, query: FeedQuery): Promise<FeedPage>
  /** The newest posts of an author, with counts. None if a block hides them. */
  readAuthorPosts(reader: string, author: string, limit: number): Promise<FeedPage>
  /** Creates a post in the timelines of the author and of all followers. @returns its id. */
  createPost(author: string, text: string): Promise<string>
}

/** A page in the shape of Feedline's answers. */
export const toConnection = ({ posts, hasNextPage }: FeedPage) => ({
  edges: posts.map((node) => ({ node, cursor: node.id })),
  pageInfo: { hasNextPage, endCursor: posts.at(-1)?.id ?? null },
})
