import type { GraphPurge } from '../follows/purge.ts'
import type { Task } from '../jobs/worker.ts'
import type { UserId } from '../lib/ids.ts'
import type { Posts } from '../posts/posts.ts'
import type { Users } from '../users/users.ts'

/** What is done about each kind of job. Every task may be run again from its start and changes nothing then. */
export const createTasks = (
  users: Users,
  graph: GraphPurge,
  posts: Posts,
): Readonly<Record<string, Task>> => ({
  'user.deleted': async (payload, { signal }) => {
    const user = payload.user as UserId
    // A run after the one that freed the handle: whoever has it now keeps what is theirs.
    if (!(await users.isLeaving(user))) return
    await posts.purge(user, signal)
    await graph.run(user, signal)
    await users.free(user)
  },
})
