import { singleBatch } from '../../db/client.ts'
import type { Collections, JobDoc } from '../../db/collections.ts'
import { jobsAbout, type Outbox } from '../../jobs/outbox.ts'
import { rangeKind } from '../../jobs/ranges.ts'
import type { Pause } from '../../jobs/runner.ts'
import type { PostId, UserId } from '../../lib/ids.ts'
import type { SplitRemoval } from '../../users/deletion.ts'
import { timelineReactions } from './job-kinds.ts'

const delivery = timelineReactions['post.created']
const retraction = timelineReactions['post.deleted']
const kinds = [delivery, rangeKind(delivery), retraction, rangeKind(retraction)]

/** Number of jobs that one step takes over. */
const jobsMax = 50

/**
 * Takes over jobs that still deliver or retract posts of a deleted author, also parked ones: they
 * find readers by the edges of the followers, so without edges they would leave entries of deleted
 * posts. The removal retracts the posts instead. Does nothing before the last writes are settled,
 * because the edges stay until then. One command, and those of the split.
 * @returns undefined if no such job is left.
 */
export async function retractUnfinished(
  { jobs, outbox }: { readonly jobs: Collections['outbox']; readonly outbox: Outbox },
  author: UserId,
  { isSettled, cutFollowers, split }: SplitRemoval,
): Promise<Pause | undefined> {
  if (!isSettled) return undefined
  const own = { ...jobsAbout(author), 'payload.author': author }
  const unfinished = await jobs
    .find({ ...own, kind: { $in: kinds } }, singleBatch)
    .project<Pick<JobDoc, '_id' | 'payload'>>({ 'payload.post': 1 })
    .limit(jobsMax)
    .toArray()
  if (unfinished.length === 0) return undefined
  const _id = { $in: unfinished.map((job) => job._id) }
  return split(await cutFollowers(), {
    ids: [...new Set(unfinished.map(({ payload }) => payload.post as PostId))],
    remove: (tx) => outbox.cancel(tx, { ...own, _id }),
  })
}
