import { Worker } from '../../../src/jobs/worker.ts'
import type { UserId } from '../../../src/lib/ids.ts'
import type { Services } from '../../../src/services.ts'
import { silent } from '../../support/jobs.ts'
import { handle } from '../../support/services.ts'

/** The users of the races of law L1. */
export const people = ['ann', 'ben', 'carl', 'dora', 'eve'].map(handle)
export const [reader, fan, author, other] = people as [UserId, UserId, UserId, UserId]

/** One step of a process. */
export type Step = (main: Services) => Promise<unknown>

export const all =
  (...steps: Step[]): Step =>
  async (main) => {
    for (const step of steps) await step(main)
  }
/** Runs what is due, and takes nothing away from others. */
export const work: Step = ({ queue, tasks }) =>
  new Worker(queue, tasks, silent, { concurrency: 1, pollMs: 20, leaseMs: 30_000 }).drain()
export const post =
  (by: UserId): Step =>
  (main) =>
    main.posts.create(by, { text: 'new' })
export const follow =
  (one = reader, of = author): Step =>
  (main) =>
    main.follows.follow(one, of)
export const unfollow =
  (one = reader, of = author): Step =>
  (main) =>
    main.follows.unfollow(one, of)
export const again = all(unfollow(), work, follow(), work)
/** The leases that others hold end, and somebody else does their jobs. */
export const takeOver = all(
  ({ collections }) =>
    collections.outbox.updateMany({ leased: { $exists: true } }, { $set: { runAt: new Date(0) } }),
  work,
)
export const uncache: Step = ({ collections }) => collections.timeline_cache.deleteMany({})
export const deletePost: Step = async (main) => {
  const [newest] = await main.posts.refsByAuthors([author], { oldestFirst: false, limit: 1 })
  if (newest) await main.posts.delete(author, newest)
}
export const drop: Step = async ({ registry, registrations }) => {
  for (const name of (await registry.read()).keys()) await registrations.drop(name as 'INBOX')
}
