import { collectionOf } from '../db/collection-spec.ts'
import type { ObjectId } from '../db/mongo.ts'
import { date, id, object, text, whole } from '../db/shape.ts'

/**
 * The queues of jobs: QUICK for short jobs, BULK for long ones, RANGE for the ranges of split jobs.
 * QUICK and the others do not delay each other.
 */
export const queueNames = ['QUICK', 'BULK', 'RANGE'] as const
export type QueueName = (typeof queueNames)[number]

/** A job, inserted in the transaction of the write that caused it. */
export interface JobDoc {
  readonly _id: ObjectId
  /** The user whose documents its transaction writes, and whose shard it is on. Empty: no user. */
  readonly about: string
  readonly kind: string
  readonly payload: Readonly<Record<string, unknown>>
  readonly state: 'READY' | 'PARKED'
  readonly queue: QueueName
  /**
   * When the job is due. For a claimed job, when its lease ends. For a parked job, when it was
   * parked. Server time.
   */
  readonly runAt: Date
  /**
   * Raised by every start and end of a claim, so that a worker with an expired lease no longer
   * matches.
   */
  readonly fence: number
  /** The name of the claim, until its lease is ended. Also set after the lease has expired. */
  readonly leased?: string
  readonly checkpoint?: unknown
  /** The number of tries since the last new checkpoint. */
  readonly attempts: number
  /** The error of the last failed try. */
  readonly error?: string
  /**
   * The span of the write that made the job, as a W3C `traceparent`. Absent if the write was not
   * traced.
   */
  readonly traceparent?: string
}

/** What the queue of jobs stores. */
export const jobCollections = {
  outbox: collectionOf<JobDoc>()({
    about: 'a job',
    indexes: [
      { key: { state: 1, queue: 1, runAt: 1 } }, // due jobs
      // waiting deliveries, which have no follower, and back-fills, which have neither author nor
      // post
      { key: { kind: 1, 'payload.author': 1, 'payload.follower': 1, 'payload.post': 1 } },
    ],
    shardKey: { about: 1, _id: 1 },
    accountIn: 'whole',
    shape: object(
      {
        _id: id,
        about: text,
        kind: text,
        payload: { bsonType: 'object' },
        runAt: date,
        state: { enum: ['READY', 'PARKED'] },
        queue: { enum: queueNames },
        fence: whole,
        attempts: whole,
      },
      { leased: text, error: text, traceparent: text },
    ),
  }),
}
