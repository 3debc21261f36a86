import type { Engagements } from '../engagement/engagement.ts'
import type { PostPurge } from '../engagement/purge.ts'
import type { GraphPurge } from '../follows/purge.ts'
import type { Run } from '../jobs/lease.ts'
import type { Task } from '../jobs/worker.ts'
import type { PostId, UserId } from '../lib/ids.ts'
import type { Posts } from '../posts/posts.ts'
import type { Users } from '../users/users.ts'

/** What is done about each kind of job. Every task may be run again from its start and changes nothing then. */
export const createTasks = (
  users: Users,
  graph: GraphPurge,
  posts: Posts,
  engagements: Engagements,
  purge: PostPurge,
): Readonly<Record<string, Task>> => ({
  'user.deleted': async (payload, run) => {
    const user = payload.user as UserId
    // A run after the one that freed the handle: whoever has it now keeps what is theirs.
    if (!(await users.isLeaving(user))) return
    const progress = { signal: run.signal, onRemoved: counting(run) }
    await posts.purge(user, progress)
    await graph.run(user, progress)
    await engagements.purge(user, progress)
    await users.free(user)
  },
  'post.deleted': async (payload, { signal }) => purge.run(payload.post as PostId, signal),
})

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
