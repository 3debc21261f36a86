import type { Once } from '../db/once.ts'
import type { Tx } from '../db/transaction.ts'
import type { Engagements } from '../engagement/engagement.ts'
import type { PostPurge } from '../engagement/purge.ts'
import type { GraphPurge } from '../follows/purge.ts'
import type { Tasks } from '../jobs/attempt.ts'
import type { Run } from '../jobs/lease.ts'
import type { PostId, PostRef, UserId } from '../lib/ids.ts'
import type { Posts } from '../posts/posts.ts'
import type { Users } from '../users/users.ts'
import type { Backfill, Pair } from './backfill.ts'
import type { Delivery } from './delivery.ts'
import type { MaterialisedName } from './strategies/list.ts'

/** What tasks work with. */
export interface TaskParts {
  readonly once: Once
  readonly users: Users
  readonly graph: GraphPurge
  readonly posts: Posts
  readonly engagements: Engagements
  readonly purge: PostPurge
  readonly delivery: Delivery
  readonly backfill: Backfill
}

type Payload = Readonly<Record<string, unknown>>

/** What is done about each kind of job. Every task may be run again from its start and changes nothing then. */
export const createTasks = (parts: TaskParts): Tasks => ({
  'post.created': Object.assign(
    async (payload: Payload, run: Run) => parts.delivery.deliver(refOf(payload), run),
    { together: 32 },
  ),
  'post.deleted': async (payload, run) => parts.delivery.takeBack(refOf(payload), run),
  'follow.created': async (payload, run) => parts.backfill.followed(pairOf(payload), run),
  'follow.ended': async (payload, run) => parts.backfill.unfollowed(pairOf(payload), run),
  'strategy.backfill': async ({ strategy, epoch }, run) =>
    parts.backfill.register(
      { strategy: strategy as MaterialisedName, epoch: epoch as PostId },
      run,
    ),
  'author.promoted': async ({ author, promotion }, run) =>
    parts.backfill.promote({ author: author as UserId, promotion: promotion as string }, run),
  'author.fell': async ({ author, fall }, run) =>
    parts.backfill.fall({ author: author as UserId, fall: fall as string }, run),
  'user.deleted': async ({ user }, run) => userDeleted(parts, user as UserId, run),
  'engagements.orphaned': async (payload, { signal }) =>
    parts.purge.run(payload.post as PostId, signal),
})

const refOf = ({ author, post }: Payload): PostRef => ({
  author: author as UserId,
  id: post as PostId,
})

const pairOf = ({ follower, followee }: Payload): Pair => ({
  follower: follower as UserId,
  followee: followee as UserId,
})

async function userDeleted(
  { once, users, graph, posts, engagements, delivery, backfill }: TaskParts,
  user: UserId,
  run: Run,
): Promise<void> {
  const since = await users.leavingSince(user)
  if (!since) return
  // A run that was held up past the one that freed the handle: what is stored under it by then is the next owner's.
  const isDue = async (tx?: Tx) =>
    (await users.leavingSince(user, tx))?.getTime() === since.getTime()
  const { signal } = run
  const progress = { signal, isDue, onRemoved: counting(run) }
  await posts.purge(user, (ids) => delivery.takeAllBack(user, ids, signal), progress)
  await graph.run(user, progress)
  await engagements.purge(user, progress)
  await once.purge(user, progress)
  if (!(await isDue())) return
  await delivery.forgetReader(user)
  // Somebody may have taken the handle if this worker was held up: their timelines are theirs again.
  if (await isDue()) await users.free(user, since)
  else await backfill.refill(user, signal)
}

/**
 * Keeps how much has been removed, over all tries. What is left is found by looking, so the count is there to show
 * progress alone: it starts the attempts anew, and a purge that is cut off often is not parked.
 */
function counting({ checkpoint, save }: Run): (count: number) => Promise<void> {
  let { removed } = (checkpoint ?? { removed: 0 }) as { removed: number }
  return async (count) => {
    removed += count
    await save({ removed })
  }
}
