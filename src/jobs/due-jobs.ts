import { randomUUID } from 'node:crypto'
import { requestTimeout } from '../db/client.ts'
import { type Collections, type JobDoc, type QueueName, queueNames } from '../db/collections.ts'
import { findAtOnce } from '../db/find-at-once.ts'
import { inMs, type Job, toJob } from './job.ts'

/** Which jobs a claim leases. */
export interface ClaimOptions {
  /** The queues to claim the oldest job from. Default: all queues. */
  readonly queues?: readonly QueueName[]
  /** Number of small jobs of a kind that are claimed together. Default: 1. */
  readonly batchSizeOf?: (kind: string) => number
}

/** Number of due jobs that a claim reads. A batch is not larger. */
const dueMax = 32
/** Number of times that a claim reads due jobs, if other workers claim all that it has read. */
const readsMax = 8

const isDue = { state: 'READY', $expr: { $lte: ['$runAt', '$$NOW'] } } as const

/** Claims jobs for one process. */
export class DueJobs {
  /**
   * A claim begins at one of this number of jobs. It grows while other workers claim the same jobs.
   */
  private spread = 1

  /** @param random spreads the claims of several workers, 0 to 1. */
  constructor(
    private readonly outbox: Collections['outbox'],
    private readonly random: () => number,
  ) {}

  /**
   * Leases a job, and with it other small jobs of its kind. It is the job that has been due the
   * longest, or one of the first 32 while other workers claim too. A job is due again when its
   * lease runs out. Each claim counts as a try. One command if no job is due, else two. Two more if
   * another worker claims the same jobs. The read asks all shards, because each of them may have
   * the oldest job. Examines 32 index keys, however many jobs are due, and none that is due later.
   * @returns an empty array if no job is due, or other workers claim all of them.
   */
  async claim(leaseMs: number, { queues, batchSizeOf = one }: ClaimOptions = {}): Promise<Job[]> {
    for (let reads = 0; reads < readsMax; reads++) {
      let due = await this.findDue(queues)
      if (due.length === 0) return []
      while (due.length > 0) {
        const batch = selectBatch(due, this.chooseStart(due.length), batchSizeOf)
        const leased = await this.lease(batch, leaseMs)
        this.spread =
          leased.length < batch.length
            ? Math.min(dueMax, this.spread * 2)
            : Math.max(1, this.spread - 1)
        if (leased.length > 0) return leased
        due = due.filter((doc) => !batch.includes(doc))
      }
    }
    return []
  }

  private async findDue(queues: readonly QueueName[] = queueNames): Promise<JobDoc[]> {
    // An explicit list of queues lets the index merge them by age.
    const filter = { ...isDue, queue: { $in: queues } }
    const hint = { state: 1, queue: 1, runAt: 1 }
    return findAtOnce(this.outbox, filter, { sort: { runAt: 1 }, limit: dueMax, hint })
  }

  private chooseStart(count: number): number {
    const range = Math.min(this.spread, count)
    return Math.min(range - 1, Math.floor(this.random() * range))
  }

  /** Leases those jobs that no other worker has claimed since they were read. */
  private async lease(due: readonly JobDoc[], leaseMs: number): Promise<Job[]> {
    const leased = randomUUID()
    const update = leaseFor(leaseMs, leased)
    const { modifiedCount } = await this.outbox.bulkWrite(
      due.map(({ _id, about, fence }) => ({
        updateOne: { filter: { about, _id, fence, ...isDue }, update },
      })),
      { ordered: false, ...requestTimeout },
    )
    if (modifiedCount === 0) return []
    const ours = modifiedCount === due.length ? due : await this.findLeased(due, leased)
    return ours.map((doc) => toClaimed(doc, leaseMs))
  }

  private async findLeased(due: readonly JobDoc[], leased: string): Promise<JobDoc[]> {
    const about = { $in: [...new Set(due.map((doc) => doc.about))] }
    const all = { about, _id: { $in: due.map(({ _id }) => _id) }, leased }
    const options = { ...requestTimeout, projection: { _id: 1 } }
    const docs = await this.outbox.find(all, options).toArray()
    const ids = new Set(docs.map(({ _id }) => _id.toHexString()))
    return due.filter(({ _id }) => ids.has(_id.toHexString()))
  }
}

const one = () => 1

/** The job at `start`, and the next jobs that share a slot with it. */
function selectBatch(
  due: readonly JobDoc[],
  start: number,
  batchSizeOf: (kind: string) => number,
): JobDoc[] {
  const rest = due.slice(start)
  const { kind, queue } = rest[0] as JobDoc
  const size = queue === 'QUICK' ? batchSizeOf(kind) : 1
  return rest.filter((doc) => doc.kind === kind && doc.queue === queue).slice(0, size)
}

const leaseFor = (leaseMs: number, leased: string) => [
  {
    $set: {
      runAt: inMs(leaseMs),
      fence: plusOne('$fence'),
      leased,
      attempts: plusOne('$attempts'),
    },
  },
]

const plusOne = (field: string) => ({ $add: [field, 1] })

const toClaimed = (doc: JobDoc, leaseMs: number): Job => ({
  ...toJob(doc),
  fence: doc.fence + 1,
  attempts: doc.attempts + 1,
  leaseMs,
})
