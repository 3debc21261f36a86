import { requestTimeout } from '../db/client.ts'
import { type Collections, type JobDoc, type QueueName, queueNames } from '../db/collections.ts'
import { fromObjectId } from '../db/object-id.ts'
import type { TimeId } from '../lib/ids.ts'

/** Whether a worker holds a job now, one will, or none will until somebody asks for it. */
export type JobState = 'WAITING' | 'RUNNING' | 'PARKED'

/** A job as operators see it. */
export interface ListedJob {
  readonly id: TimeId
  readonly kind: string
  readonly payload: JobDoc['payload']
  readonly queue: QueueName
  readonly state: JobState
  /** Waiting: when it is, or was, due. Running: when its lease ends. Parked: since when. */
  readonly at: Date
  readonly attempts: number
  readonly checkpoint?: unknown
  /** What its last try that failed threw. */
  readonly error?: string
}

/** Which jobs to look at. */
export interface JobFilter {
  readonly parked: boolean
  readonly kind?: string | undefined
}

export interface JobList {
  /** Those of the earliest `at`, no more than were asked for. */
  readonly jobs: readonly ListedJob[]
  /** Of all that match. */
  readonly counts: Readonly<Record<JobState, number>>
}

/**
 * The jobs that match, and how many there are in each state. Two commands; looks at every one of
 * them.
 */
export async function listJobs(
  outbox: Collections['outbox'],
  { parked, kind }: JobFilter,
  limit: number,
): Promise<JobList> {
  const $match = { ...(parked ? { state: 'PARKED' } : {}), ...(kind === undefined ? {} : { kind }) }
  const docs = outbox.aggregate<JobDoc & { readonly now: JobState }>([
    { $match },
    { $sort: { runAt: 1, _id: 1 } },
    { $limit: limit },
    { $set: { now: stateNow } },
  ])
  const groups = outbox.aggregate<{ readonly _id: JobState; readonly count: number }>([
    { $match },
    { $group: { _id: stateNow, count: { $sum: 1 } } },
  ])
  const jobs = (await docs.toArray()).map((doc) => toListed(doc, doc.now))
  const counts = { WAITING: 0, RUNNING: 0, PARKED: 0 }
  for (const { _id, count } of await groups.toArray()) counts[_id] = count
  return { jobs, counts }
}

/** The jobs of one kind in one state. */
export interface JobBacklog {
  readonly kind: string
  readonly state: JobState
  readonly count: number
  /** The id of the first of them. */
  readonly oldest: TimeId
}

const [backlogMax, parkedMax] = [10_000, 1_000]

/**
 * Counts the jobs of each kind and state. Two commands, which examine the 10,000 jobs that are due
 * first and the 1,000 jobs that were parked first, however many there are.
 */
export async function readBacklog(outbox: Collections['outbox']): Promise<JobBacklog[]> {
  const groups = await Promise.all([
    backlogOf(outbox, 'READY', backlogMax),
    backlogOf(outbox, 'PARKED', parkedMax),
  ])
  return groups.flat().map(({ _id, count, oldest }) => ({
    ..._id,
    count,
    oldest: fromObjectId<TimeId>(oldest),
  }))
}

const backlogOf = (outbox: Collections['outbox'], state: JobDoc['state'], limit: number) =>
  outbox
    .aggregate<{
      readonly _id: { readonly kind: string; readonly state: JobState }
      readonly count: number
      readonly oldest: JobDoc['_id']
    }>(
      [
        { $match: { state, queue: { $in: queueNames } } },
        { $sort: { runAt: 1 } },
        { $limit: limit },
        {
          $group: {
            _id: { kind: '$kind', state: stateNow },
            count: { $sum: 1 },
            oldest: { $min: '$_id' },
          },
        },
      ],
      requestTimeout,
    )
    .toArray()

const leasedNow = { $and: ['$leased', { $gt: ['$runAt', '$$NOW'] }] }

const stateNow = {
  $cond: [{ $eq: ['$state', 'PARKED'] }, 'PARKED', { $cond: [leasedNow, 'RUNNING', 'WAITING'] }],
}

const toListed = (doc: JobDoc, state: JobState): ListedJob => ({
  id: fromObjectId<TimeId>(doc._id),
  kind: doc.kind,
  payload: doc.payload,
  queue: doc.queue,
  state,
  at: doc.runAt,
  attempts: doc.attempts,
  ...(doc.checkpoint === undefined ? {} : { checkpoint: doc.checkpoint }),
  ...(doc.error === undefined ? {} : { error: doc.error }),
})
