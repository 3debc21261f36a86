import { singleBatch } from '../../db/client.ts'
import type { Collections, JobDoc } from '../../db/collections.ts'
import type { Tx } from '../../db/transaction.ts'
import { subscriptions } from '../../events.ts'
import { jobsAbout, type Outbox } from '../../jobs/outbox.ts'
import { rangeKind } from '../../jobs/ranges.ts'
import type { PostId, UserId } from '../../lib/ids.ts'
import type { TakenJobs } from '../../users/deletion.ts'

const { timelines: delivery } = subscriptions['post.created']
const { timelines: retraction } = subscriptions['post.deleted']
const kinds = [delivery, rangeKind(delivery), retraction, rangeKind(retraction)]
const retractions: ReadonlySet<string> = new Set([retraction, rangeKind(retraction)])

/** Number of jobs that one transaction takes over. */
const jobsMax = 1_000

/**
 * Finds jobs that still deliver or retract posts of a deleted author, also parked ones. They find readers by the edges of
 * the followers, so without edges they would leave entries of deleted posts. One command, and one to cancel them.
 * @returns up to 1,000 jobs, with the posts that may have entries. Undefined if there are none.
 */
export async function findUnfinished(
  jobs: Collections['outbox'],
  outbox: Pick<Outbox, 'cancel'>,
  author: UserId,
  { session }: Tx,
): Promise<TakenJobs | undefined> {
  const own = { ...jobsAbout(author), 'payload.author': author }
  const found = await jobs
    .find({ ...own, kind: { $in: kinds } }, { ...singleBatch, session })
    .project<Pick<JobDoc, '_id' | 'kind' | 'payload' | 'fence'>>({
      kind: 1,
      fence: 1,
      'payload.post': 1,
    })
    .limit(jobsMax)
    .toArray()
  if (found.length === 0) return undefined
  // A delivery that has never begun has written nothing, and its post is deleted.
  const begun = found.filter(({ kind, fence }) => retractions.has(kind) || fence > 0)
  const _id = { $in: found.map((job) => job._id) }
  return {
    posts: [...new Set(begun.map(({ payload }) => payload.post as PostId))],
    cancel: (tx) => outbox.cancel(tx, { ...own, _id }),
  }
}
