import type { Collections } from './db/collections.ts'
import type { IdempotencyStore } from './db/idempotency.ts'
import type { Versions } from './db/versions.ts'
import type { Engagements } from './engagement/engagement.ts'
import type { OrphanedEngagement } from './engagement/orphaned.ts'
import type { SubscriberJob } from './events.ts'
import type { FollowerWalks } from './feed/delivery/follower-walk.ts'
import { type TimelineJob, type TimelineTaskParts, timelineTasks } from './feed/delivery/tasks.ts'
import { retractUnfinished } from './feed/delivery/unfinished.ts'
import type { GraphPurge } from './follows/purge.ts'
import type { Outbox } from './jobs/outbox.ts'
import type { Task } from './jobs/runner.ts'
import type { PostId } from './lib/ids.ts'
import type { Posts } from './posts/posts.ts'
import { type DeletionJob, deletionTasks } from './users/deletion.ts'
import type { Users } from './users/users.ts'

/** What the tasks work with. */
export interface SubscriberParts extends TimelineTaskParts {
  readonly collections: Pick<Collections, 'outbox'>
  readonly outbox: Outbox
  readonly users: Users
  readonly graph: GraphPurge
  readonly posts: Posts
  readonly engagements: Engagements
  readonly orphaned: OrphanedEngagement
  readonly idempotency: IdempotencyStore
  readonly versions: Versions
  readonly walks: FollowerWalks
}

/** The task of every job kind. A task that runs again from its start changes nothing. */
export const createTasks = ({
  collections,
  outbox,
  users,
  graph,
  posts,
  engagements,
  orphaned,
  idempotency,
  versions,
  walks,
  ...timelineParts
}: SubscriberParts): Readonly<Record<SubscriberJob | TimelineJob | DeletionJob, Task>> => ({
  ...timelineTasks(timelineParts),
  ...deletionTasks({
    users,
    ranges: timelineParts.ranges,
    steps: [
      (user, removal) => posts.purge(user, removal, () => walks.cutAll(user)),
      (user, removal) =>
        retractUnfinished({ jobs: collections.outbox, outbox }, user, removal, () =>
          walks.cutAll(user),
        ),
      (user, removal) => graph.removeUser(user, removal, () => walks.cutAll(user)),
      async (user, removal) => {
        await engagements.purge(user, removal)
      },
      // Until the last writes are settled, a repeat of a mutation returns its first result.
      async (user, removal) => {
        if (removal.isSettled) await idempotency.removeResults(user, removal)
      },
    ],
    ofFollowers: {
      retract: (user, ids, run, range) => timelineParts.delivery.retractAll(user, ids, run, range),
      removeEdges: (user, removal, range) => graph.removeFollowers(user, removal, range),
    },
    timelines: {
      remove: async (user) => {
        await timelineParts.delivery.deleteReader(user)
        await versions.remove(user)
      },
      refill: (user, signal) => timelineParts.backfill.refillReader(user, signal),
    },
  }),
  'engagements.orphaned': async ({ post }, { signal }) => orphaned.clear(post as PostId, signal),
})
