import type { EngagementKind, kinds } from './engagement/kinds.ts'
import type { EngagementId, PostId, UserId } from './lib/ids.ts'

type EdgeEvent = Readonly<{ follower: UserId; followee: UserId }>
type PostEvent = Readonly<{ author: UserId; post: PostId }>

/** Every kind of engagement has an event: an entry of it was added to a post's list. */
type EntryEvents = Readonly<
  Record<
    `${(typeof kinds)[EngagementKind]['noun']}.added`,
    PostEvent & Readonly<{ user: UserId; entry: EngagementId }>
  >
>

/** What happens, with the ids that reactions need. */
export interface Events extends EntryEvents {
  'user.deleted': { readonly user: UserId }
  'follow.created': EdgeEvent
  'follow.ended': EdgeEvent
  'post.created': PostEvent
  'post.deleted': PostEvent
  /**
   * A post was removed that had likes, comments or shares: by its author, or with the author's
   * account. A repair may not know the author.
   */
  'engagements.orphaned': Pick<PostEvent, 'post'> & Partial<PostEvent>
}

export type EventName = keyof Events

/**
 * The kind of job with which a feature reacts to each event. The transaction of the event inserts
 * the job. Kinds are persisted.
 */
export type Reactions<Kind extends string = string> = Readonly<Partial<Record<EventName, Kind>>>
