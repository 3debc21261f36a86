import type { IdempotencyStore } from './db/idempotency.ts'
import type { Engagements } from './engagement/engagement.ts'
import type { PostPurge } from './engagement/purge.ts'
import type { SubscriberJob } from './events.ts'
import type { Backfill } from './feed/backfill.ts'
import type { Delivery } from './feed/delivery.ts'
import { type TimelineJob, timelineTasks } from './feed/tasks.ts'
import type { GraphPurge } from './follows/purge.ts'
import type { Task } from './jobs/runner.ts'
import type { PostId } from './lib/ids.ts'
import type { Posts } from './posts/posts.ts'
import { deleteAccount } from './users/deletion.ts'
import type { Users } from './users/users.ts'

/** What the tasks work with. */
export interface SubscriberParts {
  readonly users: Users
  readonly graph: GraphPurge
  readonly posts: Posts
  readonly engagements: Engagements
  readonly purge: PostPurge
  readonly idempotency: IdempotencyStore
  readonly delivery: Delivery
  readonly backfill: Backfill
}

/** The task of every job kind. A task that runs again from its start changes nothing. */
export const createTasks = ({
  users,
  graph,
  posts,
  engagements,
  purge,
  idempotency,
  delivery,
  backfill,
}: SubscriberParts): Readonly<Record<SubscriberJob | TimelineJob, Task>> => ({
  ...timelineTasks(delivery, backfill),
  'user.deleted': deleteAccount({
    users,
    steps: [
      (user, removal) =>
        posts.purge(user, (ids) => delivery.retractAll(user, ids, removal.signal), removal),
      (user, removal) => graph.removeUser(user, removal),
      (user, removal) => engagements.purge(user, removal),
      // Until the last writes are settled, a repeat of a mutation returns its first result.
      async (user, removal) => {
        if (removal.isSettled) await idempotency.removeResults(user, removal)
      },
    ],
    timelines: {
      deleteReader: (user) => delivery.deleteReader(user),
      refill: (user, signal) => backfill.refillReader(user, signal),
    },
  }),
  'engagements.orphaned': async ({ post }, { signal }) => purge.run(post as PostId, signal),
})
