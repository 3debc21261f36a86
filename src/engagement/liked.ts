import type { EngagementId, PostId, PostRef, UserId } from '../lib/ids.ts'
import type { List } from '../pages/pipeline.ts'
import type { EngagementReader } from './reader.ts'
import type { UserEngagement, UserEngagementIndex } from './user-index.ts'

/** A post in a user's list of likes; `id` is the like's, so the list runs by when it was liked. */
export interface LikedPost {
  readonly id: EngagementId
  readonly post: PostRef
}

/** The likes that the posts confirm, and the authors that are hidden from the viewer. */
interface Known {
  readonly confirmed: ReadonlySet<EngagementId>
  readonly hidden: ReadonlySet<UserId> | undefined
}

/**
 * The posts that each user likes, last liked first: entries of {@link UserEngagementIndex} that the posts confirm, of
 * authors that the viewer may see. A read is one covered command, and its facts are up to four, for any number of users
 * and likes.
 */
export const likedPosts = (
  userIndex: UserEngagementIndex,
  reader: EngagementReader,
): List<UserId, UserEngagement, LikedPost, Known> => ({
  read: (users, range, past) => userIndex.ranges(users, 'likes', range, past),
  placeOf: ({ id }) => id,
  async loadFacts(entries, visibility) {
    const posts = new Map<PostId, PostRef>(entries.map(({ post }) => [post.id, post]))
    const users = [...new Set(entries.map(({ user }) => user))]
    const authors = entries.map(({ post }) => post.author)
    const [stored, hidden] = await Promise.all([
      reader.entries(['likes'], [...posts.values()], users),
      visibility?.hiddenAmong('POST', authors),
    ])
    return { confirmed: new Set(stored.map(({ id }) => id)), hidden }
  },
  present: ({ id, post }, { confirmed, hidden }) =>
    confirmed.has(id) && !hidden?.has(post.author) ? { id, post } : undefined,
})
