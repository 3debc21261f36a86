import type { EngagementId, PostId, PostRef, UserId } from '../lib/ids.ts'
import type { List } from '../pages/pipeline.ts'
import type { Posts } from '../posts/posts.ts'
import type { KindKeyedBy } from './kinds.ts'
import type { EngagementReader } from './reader.ts'
import type { UserEngagement, UserEngagementIndex } from './user-index.ts'

/** A post with an entry of a user. `id` is the entry's, so the list runs by when it was added. */
export interface EngagedPost {
  readonly id: EngagementId
  readonly post: PostRef
}

/** The entries that the posts confirm, and the posts that the viewer may see. Undefined: all. */
interface Known {
  readonly confirmed: ReadonlySet<EngagementId>
  readonly shown: ReadonlySet<PostId> | undefined
}

/**
 * The posts with an entry of each user in the list of a kind, the last entry first: entries of
 * {@link UserEngagementIndex} that the posts confirm, of posts that the viewer may see. A read is
 * one covered command, and its facts are up to four, for any number of users and entries.
 */
export const engagedPosts = (
  kind: KindKeyedBy<'actor'>,
  parts: {
    readonly userIndex: UserEngagementIndex
    readonly reader: EngagementReader
    readonly posts: Pick<Posts, 'factsOfProven'>
  },
): List<UserId, UserEngagement, EngagedPost, Known> => ({
  read: (users, range, past) => parts.userIndex.ranges(users, kind, range, past),
  placeOf: ({ id }) => id,
  async loadFacts(entries, visibility) {
    const posts = new Map<PostId, PostRef>(entries.map(({ post }) => [post.id, post]))
    const users = [...new Set(entries.map(({ user }) => user))]
    const refs = [...posts.values()]
    const [stored, shown] = await Promise.all([
      parts.reader.entries([kind], refs, users),
      visibility &&
        parts.posts.factsOfProven(refs).then((facts) => visibility.shownAmong('POST', facts)),
    ])
    return { confirmed: new Set(stored.map(({ id }) => id)), shown }
  },
  present: ({ id, post }, { confirmed, shown }) =>
    confirmed.has(id) && (shown === undefined || shown.has(post.id)) ? { id, post } : undefined,
})
