import { subscriptions } from '../../events.ts'
import type { Task } from '../../jobs/runner.ts'
import type { PostId, PostRef, UserId } from '../../lib/ids.ts'
import type { ModeChanges } from '../celebrities/mode-changes.ts'
import type { MaterialisedName } from '../strategies/list.ts'
import type { Backfill, Pair } from './backfill.ts'
import type { BegunDeliveries } from './begun-delivery.ts'
import type { Delivery } from './delivery.ts'

type Payload = Readonly<Record<string, unknown>>

const { timelines: postCreated } = subscriptions['post.created']
const { timelines: postDeleted } = subscriptions['post.deleted']
const { timelines: followCreated } = subscriptions['follow.created']
const { timelines: followEnded } = subscriptions['follow.ended']

/** The kinds of jobs that maintain stored timelines: reactions to events, and jobs that timelines enqueue. */
export type TimelineJob =
  | typeof postCreated
  | typeof postDeleted
  | typeof followCreated
  | typeof followEnded
  | 'strategy.backfill'
  | 'author.promoted'
  | 'author.demoted'

/** The parts of {@link timelineTasks}. */
export interface TimelineTaskParts {
  readonly delivery: Delivery
  readonly begunDeliveries: BegunDeliveries
  readonly backfill: Backfill
  readonly modeChanges: ModeChanges
}

/** The tasks that maintain stored timelines. Each may be repeated, and then changes nothing. */
export const timelineTasks = ({
  delivery,
  begunDeliveries,
  backfill,
  modeChanges,
}: TimelineTaskParts): Readonly<Record<TimelineJob, Task>> => ({
  [postCreated]: Object.assign(
    async (payload: Payload, run: Parameters<Task>[1]) =>
      delivery.deliverPost(parsePost(payload), run),
    { batchSize: 32, begin: begunDeliveries.begin.bind(begunDeliveries) },
  ),
  [postDeleted]: async (payload, run) => delivery.retract(parsePost(payload), run),
  [followCreated]: async (payload, run) => backfill.addFollowee(parsePair(payload), run),
  [followEnded]: async (payload, run) => backfill.removeFollowee(parsePair(payload), run),
  'strategy.backfill': async ({ strategy, epoch }, run) =>
    backfill.fillStrategy({ strategy: strategy as MaterialisedName, epoch: epoch as PostId }, run),
  'author.promoted': async ({ author, promotion }, run) =>
    modeChanges.promote({ author: author as UserId, promotion: promotion as string }, run),
  'author.demoted': async ({ author, demotion }, run) =>
    modeChanges.demote({ author: author as UserId, demotion: demotion as string }, run),
})

const parsePost = ({ author, post }: Payload): PostRef => ({
  author: author as UserId,
  id: post as PostId,
})

const parsePair = ({ follower, followee }: Payload): Pair => ({
  follower: follower as UserId,
  followee: followee as UserId,
})
