import type { Collections, JobDoc } from '../../../src/db/collections.ts'
import { fromObjectId } from '../../../src/db/object-id.ts'
import type { Run } from '../../../src/jobs/lease.ts'
import { LeaseLost } from '../../../src/jobs/queue.ts'
import type { PostId, TimeId, UserId } from '../../../src/lib/ids.ts'
import type { Services } from '../../../src/services.ts'
import { noJob } from '../../support/no-job.ts'
import { settleDeletions } from '../../support/services.ts'

/** The options of running a job. */
interface RunOptions {
  readonly inline?: boolean
  /** Runs the job from its start, without its checkpoint. */
  readonly afresh?: boolean
  /** Does not delete the job after it is done. */
  readonly kept?: boolean
}

/** Runs jobs one by one, without workers, so that a history decides when and how often. */
export class Deliveries {
  /** The jobs that have run at least once. */
  readonly done: JobDoc[] = []

  /** @param count receives the name of each event. */
  constructor(
    private readonly outbox: Collections['outbox'],
    private readonly count: (what: string) => void,
  ) {}

  /** All jobs in the outbox, the oldest first. */
  waiting(): Promise<JobDoc[]> {
    return this.outbox.find({}).sort({ _id: 1 }).toArray()
  }

  /** Those of the posts that wait for their delivery. */
  async waitingAmong(posts: readonly PostId[]): Promise<readonly PostId[]> {
    const jobs = { kind: 'post.created', 'payload.post': { $in: [...posts] } }
    return this.outbox.distinct('payload.post', jobs) as Promise<PostId[]>
  }

  /** @param n 0 for the newest job; modulo the number of jobs. */
  async nth(n: number): Promise<JobDoc | undefined> {
    const all = await this.waiting()
    return all.at(-1 - (n % Math.max(1, all.length)))
  }

  /** Runs a job in a process, and deletes it when it is done. */
  async run(
    { tasks, collections }: Services,
    job: JobDoc,
    options: RunOptions = {},
  ): Promise<void> {
    const { inline = false, afresh = false, kept = false } = options
    const run: Run = {
      checkpoint: afresh ? undefined : job.checkpoint,
      save: async (checkpoint) => {
        const saved = await collections.outbox.updateOne({ _id: job._id }, { $set: { checkpoint } })
        if (saved.matchedCount === 0) throw new LeaseLost(fromObjectId<TimeId>(job._id))
      },
      signal: new AbortController().signal,
      inline,
      job: noJob,
    }
    // A deletion that runs from its start finds that writes of the account may be under way.
    if (!afresh) await settleDeletions(collections)
    const task = tasks[job.kind]
    if (!task) throw new Error(`no task for ${job.kind}`)
    try {
      // The job is unfinished, or pauses.
      if (await task(job.payload, run)) return
    } catch (error) {
      if (error instanceof LeaseLost) return
      throw error
    }
    this.count(`done ${job.kind}`)
    this.done.push(job)
    if (!kept) await this.outbox.deleteOne({ _id: job._id })
  }

  /** What timelines may lack because of waiting jobs: posts, and all posts of a followee, as `follower>followee`. */
  async underWay(): Promise<{ posts: Set<PostId>; pairs: Set<string> }> {
    const [posts, pairs] = [new Set<PostId>(), new Set<string>()]
    for (const { kind, payload } of await this.waiting()) {
      if (kind === 'post.created') posts.add(payload.post as PostId)
      if (kind === 'follow.created') {
        pairs.add(pairOf(payload.follower as UserId, payload.followee as UserId))
      }
    }
    return { posts, pairs }
  }
}

export const pairOf = (follower: UserId, followee: UserId) => `${follower}>${followee}`
