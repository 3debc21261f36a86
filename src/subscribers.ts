import type { IdempotencyStore } from './db/idempotency.ts'
import type { Versions } from './db/versions.ts'
import type { Engagements } from './engagement/engagement.ts'
import type { OrphanedEngagement } from './engagement/orphaned.ts'
import type { SubscriberJob } from './events.ts'
import { type TimelineJob, type TimelineTaskParts, timelineTasks } from './feed/delivery/tasks.ts'
import type { GraphPurge } from './follows/purge.ts'
import type { Task } from './jobs/runner.ts'
import type { PostId } from './lib/ids.ts'
import type { Posts } from './posts/posts.ts'
import { deleteAccount } from './users/deletion.ts'
import type { Users } from './users/users.ts'

/** What the tasks work with. */
export interface SubscriberParts extends TimelineTaskParts {
  readonly users: Users
  readonly graph: GraphPurge
  readonly posts: Posts
  readonly engagements: Engagements
  readonly orphaned: OrphanedEngagement
  readonly idempotency: IdempotencyStore
  readonly versions: Versions
}

/** The task of every job kind. A task that runs again from its start changes nothing. */
export const createTasks = ({
  users,
  graph,
  posts,
  engagements,
  orphaned,
  idempotency,
  versions,
  ...timelineParts
}: SubscriberParts): Readonly<Record<SubscriberJob | TimelineJob, Task>> => ({
  ...timelineTasks(timelineParts),
  'user.deleted': deleteAccount({
    users,
    steps: [
      (user, removal) =>
        posts.purge(
          user,
          (ids) => timelineParts.delivery.retractAll(user, ids, removal.signal),
          removal,
        ),
      (user, removal) => graph.removeUser(user, removal),
      (user, removal) => engagements.purge(user, removal),
      // Until the last writes are settled, a repeat of a mutation returns its first result.
      async (user, removal) => {
        if (removal.isSettled) await idempotency.removeResults(user, removal)
      },
    ],
    timelines: {
      async deleteReader(user) {
        await timelineParts.delivery.deleteReader(user)
        await versions.remove(user)
      },
      refill: (user, signal) => timelineParts.backfill.refillReader(user, signal),
    },
  }),
  'engagements.orphaned': async ({ post }, { signal }) => orphaned.clear(post as PostId, signal),
})
