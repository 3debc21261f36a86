import type { JobDoc, QueueName } from '../db/collections.ts'
import { fromObjectId } from '../db/object-id.ts'
import type { TimeId } from '../lib/ids.ts'
import type { Traceparent } from '../tracing/spans.ts'

/** A leased job. After a call threw {@link LeaseLost}, another process may hold the lease. */
export interface Job {
  readonly id: TimeId
  /** The shard key of the job, with its id: see {@link JobDoc.about}. */
  readonly about: string
  readonly kind: string
  readonly payload: JobDoc['payload']
  readonly queue: QueueName
  /** The argument of the last `save`; undefined before the first. */
  readonly checkpoint: unknown
  /** Number of tries since the checkpoint last changed, this one included. */
  readonly attempts: number
  /** Fencing token: no two leases on the job have the same number. */
  readonly fence: number
  readonly leaseMs: number
  /** The span of the write that made the job. Undefined if the write was not traced. */
  readonly traceparent: Traceparent | undefined
}

/** A stored job without its lease. */
export const toJob = (doc: JobDoc) => ({
  id: fromObjectId<TimeId>(doc._id),
  about: doc.about,
  kind: doc.kind,
  payload: doc.payload,
  queue: doc.queue,
  checkpoint: doc.checkpoint,
  attempts: doc.attempts,
  traceparent: doc.traceparent,
})

/** An aggregation expression: the time `ms` milliseconds from now by the server's clock. */
export const inMs = (ms: number) => ({ $add: ['$$NOW', Math.ceil(ms)] })
