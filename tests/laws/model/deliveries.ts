import { randomUUID } from 'node:crypto'
import type { Collections, JobDoc } from '../../../src/db/collections.ts'
import { toJob } from '../../../src/jobs/job.ts'
import { Lease } from '../../../src/jobs/lease.ts'
import { type Job, LeaseLost } from '../../../src/jobs/queue.ts'
import type { PostId, UserId } from '../../../src/lib/ids.ts'
import type { Services } from '../../../src/services.ts'
import { leaseMs } from '../../support/jobs.ts'
import { settleDeletions, settleRegistrations } from '../../support/services.ts'

/** The options of running a job. */
interface RunOptions {
  readonly inline?: boolean
  /** The worker claimed the job before all others, and was held up until its lease was over. */
  readonly isStale?: boolean
  /** The worker dies after the job is done, and before it is deleted. */
  readonly kept?: boolean
}

/** The processes that run all jobs in turn. */
interface Drain {
  readonly next: (tries: number) => Services
  readonly newestFirst: boolean
}

/**
 * Runs jobs one by one as workers do, with leases, so that a history decides when and how often.
 * Before a job runs, the lease of the worker that had it is over.
 */
export class Deliveries {
  /** The jobs that were completed. */
  readonly done: JobDoc[] = []

  /** @param count receives the name of each event. */
  constructor(
    private readonly collections: Pick<Collections, 'outbox' | 'users' | 'strategies'>,
    private readonly count: (what: string) => void,
  ) {}

  /** All jobs in the outbox, the oldest first. */
  waiting(): Promise<JobDoc[]> {
    return this.collections.outbox.find({}).sort({ _id: 1 }).toArray()
  }

  /** Those of the posts that wait for their delivery. */
  async waitingAmong(posts: readonly PostId[]): Promise<readonly PostId[]> {
    const jobs = { kind: 'post.created', 'payload.post': { $in: [...posts] } }
    return this.collections.outbox.distinct('payload.post', jobs) as Promise<PostId[]>
  }

  /** @param n 0 for the newest job; modulo the number of jobs. */
  async nth(n: number): Promise<JobDoc | undefined> {
    const all = await this.waiting()
    return all.at(-1 - (n % Math.max(1, all.length)))
  }

  /** Runs every job to its end. A job that waits for other jobs runs after them. */
  async drain({ next, newestFirst }: Drain): Promise<void> {
    for (let tries = 0; tries < 500; tries++) {
      const jobs = await this.waiting()
      if (jobs.length === 0) return
      const due = jobs.filter(isDue)
      const job = due.at(newestFirst ? -1 : 0) ?? jobs.reduce(sooner)
      await this.run(next(tries), job)
    }
    throw new Error('jobs do not end')
  }

  /** Runs a job once in a process, and ends its lease. */
  async run(services: Services, doc: JobDoc, options: RunOptions = {}): Promise<void> {
    const { inline = false, isStale = false, kept = false } = options
    const { queue, tasks } = services
    const task = tasks[doc.kind]
    if (!task) throw new Error(`no task for ${doc.kind}`)
    // A deletion that runs from its start finds that writes of the account may be under way.
    if (!isStale) await settleDeletions(this.collections)
    // No history registers a strategy while it holds the transaction of a post.
    await settleRegistrations(this.collections)
    const job = isStale ? firstClaimOf(doc) : await this.claim(doc)
    if (!job) return
    const lease = new Lease(queue, job, inline)
    try {
      const left = await task(job.payload, lease)
      if (left)
        return await queue.release(lease.job, left === 'unfinished' ? 0 : left.continuesInMs)
      if (!kept) await queue.complete(lease.job)
    } catch (error) {
      if (error instanceof LeaseLost) return
      throw error
    } finally {
      lease.end()
    }
    this.count(`done ${doc.kind}`)
    this.done.push(doc)
  }

  /**
   * What timelines may lack because of waiting jobs: posts, and all posts of a followee, as
   * `follower>followee`.
   */
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

  /**
   * Claims a job as a worker does when the lease before is over. @returns undefined if the job does
   * not exist.
   */
  private async claim({ _id, about }: JobDoc): Promise<Job | undefined> {
    const lease = { leased: randomUUID(), runAt: new Date(Date.now() + leaseMs) }
    const doc = await this.collections.outbox.findOneAndUpdate(
      { about, _id },
      { $inc: { fence: 1, attempts: 1 }, $set: lease },
      { returnDocument: 'after' },
    )
    return doc ? { ...toJob(doc), fence: doc.fence, leaseMs } : undefined
  }
}

/** The job as its first worker has claimed it. */
const firstClaimOf = (doc: JobDoc): Job => ({
  ...toJob(doc),
  ...{ checkpoint: undefined, attempts: 1, fence: 1, leaseMs },
})

/** Only a dead worker still has a lease when the next job is chosen. */
const isDue = ({ leased, runAt }: JobDoc) => leased !== undefined || runAt.getTime() <= Date.now()
const sooner = (one: JobDoc, other: JobDoc) => (other.runAt < one.runAt ? other : one)

export const pairOf = (follower: UserId, followee: UserId) => `${follower}>${followee}`
