import type { QueueName } from './db/collections.ts'
import type { EngagementKind, kinds } from './engagement/kinds.ts'
import type { NewJob } from './jobs/outbox.ts'
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

/** What happens, with the ids that the subscribers need. */
export interface Events extends EntryEvents {
  'user.deleted': { readonly user: UserId }
  'follow.created': EdgeEvent
  'follow.ended': EdgeEvent
  'post.created': PostEvent
  'post.deleted': PostEvent
  /** A post was removed that had likes, comments or shares: by its author, or with the author's account. A repair may not know the author. */
  'engagements.orphaned': Pick<PostEvent, 'post'> & Partial<PostEvent>
}

export type EventName = keyof Events

/**
 * The subscribers of each event, with the kinds of their jobs. Each subscriber has a job of its own, which the
 * transaction of the event inserts. The tasks of all jobs are in `subscribers.ts`. Job kinds are persisted.
 * A subscriber of an added entry costs the fast path: such entries are then added in transactions.
 */
export const subscriptions = {
  'user.deleted': { accounts: 'user.deleted' },
  'follow.created': { timelines: 'follow.created' },
  'follow.ended': { timelines: 'follow.ended' },
  'post.created': { timelines: 'post.created' },
  'post.deleted': { timelines: 'post.deleted' },
  'engagements.orphaned': { engagement: 'engagements.orphaned' },
  'like.added': {},
  'comment.added': {},
  'share.added': {},
} as const satisfies Record<EventName, Readonly<Record<string, string>>>

type Subscriptions = typeof subscriptions

type JobKindsOf<S> = S extends unknown ? S[keyof S] : never

/** The kinds of the jobs of all subscribers. */
export type SubscriberJob = JobKindsOf<Subscriptions[EventName]>

/** The jobs of all subscribers of an event, for the outbox. @param queue of the jobs. Default: QUICK. */
export const reactionsTo = <E extends EventName>(
  event: E,
  payload: Events[E],
  queue: QueueName = 'QUICK',
): NewJob[] => Object.values<string>(subscriptions[event]).map((kind) => ({ kind, payload, queue }))
