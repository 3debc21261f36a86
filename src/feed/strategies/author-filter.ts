import type { StrategyDoc } from '../../db/collections.ts'
import type { PostId, UserId } from '../../lib/ids.ts'

/**
 * Decides which authors' posts a strategy stores. The strategy reads the posts of all other authors with each page.
 * Every method may be repeated, and then changes nothing.
 */
export interface AuthorFilter {
  /** Whether new posts of the author are stored. */
  accepts(author: UserId): Promise<boolean>
  /** The first id from which no post of the author is stored. Undefined: any post may be stored. */
  firstUnstoredId(author: UserId): Promise<PostId | undefined>
  /** Called before a post of the author is delivered. May start a change of the decision about the author. */
  updateDeliveryMode(author: UserId, followers: number, registration: StrategyDoc): Promise<void>
  /** Called when the follower's new edge is committed, before the author's older posts are stored for the follower. */
  noteFollow(follower: UserId, author: UserId): Promise<void>
  /**
   * Called before the timelines of readers are back-filled.
   * @param authorsOf each reader with the authors of the timeline, in parts if there are many.
   * @returns the authors whose posts the back-fill leaves out.
   */
  noteFollowees(authorsOf: ReadonlyMap<UserId, readonly UserId[]>): Promise<ReadonlySet<UserId>>
  /** Called before a strategy that stores in the same collection is dropped. From then on, any post may be stored. */
  assumeStored(): Promise<void>
  /** Removes the data about a deleted user, as an author and as a reader. */
  removeUser(user: UserId): Promise<void>
}
