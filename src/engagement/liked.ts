import type { EngagementId, PostId, PostRef, UserId } from '../lib/ids.ts'
import type { List } from '../pages/pipeline.ts'
import type { Posts } from '../posts/posts.ts'
import type { EngagementReader } from './reader.ts'
import type { UserEngagement, UserEngagementIndex } from './user-index.ts'

/** A post in a user's list of likes; `id` is the like's, so the list runs by when it was liked. */
export interface LikedPost {
  readonly id: EngagementId
  readonly post: PostRef
}

/** The likes that the posts confirm, and the posts that the viewer may see. Undefined: all. */
interface Known {
  readonly confirmed: ReadonlySet<EngagementId>
  readonly shown: ReadonlySet<PostId> | undefined
}

/**
 * The posts that each user likes, last liked first: entries of {@link UserEngagementIndex} that the
 * posts confirm, of posts that the viewer may see. A read is one covered command, and its facts are
 * up to four, for any number of users and likes.
 */
export const likedPosts = (
  userIndex: UserEngagementIndex,
  reader: EngagementReader,
  allPosts: Pick<Posts, 'factsOfProven'>,
): List<UserId, UserEngagement, LikedPost, Known> => ({
  read: (users, range, past) => userIndex.ranges(users, 'likes', range, past),
  placeOf: ({ id }) => id,
  async loadFacts(entries, visibility) {
    const posts = new Map<PostId, PostRef>(entries.map(({ post }) => [post.id, post]))
    const users = [...new Set(entries.map(({ user }) => user))]
    const refs = [...posts.values()]
    const [stored, shown] = await Promise.all([
      reader.entries(['likes'], refs, users),
      visibility &&
        allPosts.factsOfProven(refs).then((facts) => visibility.shownAmong('POST', facts)),
    ])
    return { confirmed: new Set(stored.map(({ id }) => id)), shown }
  },
  present: ({ id, post }, { confirmed, shown }) =>
    confirmed.has(id) && (shown === undefined || shown.has(post.id)) ? { id, post } : undefined,
})
