import type { ClientSession, Document, Timestamp } from 'mongodb'
import { isInJob } from '../request-scope.ts'
import { MeasuredConnection } from './measured-connection.ts'

/** The latest time at which a client may have seen a job. */
interface Seen {
  /** A read that waits for it sees all that the job's transaction wrote, on every shard. */
  readonly operationTime: Timestamp
  /**
   * The signed time of the cluster, with which a server that is behind accepts a wait for
   * `operationTime`.
   */
  readonly $clusterTime: Document | undefined
}

/** The reads that can wait. A read of later results belongs to one of them. */
const reads = ['find', 'aggregate', 'distinct', 'count']

/**
 * The client has seen a job when its own transaction has committed, or when it has found the job in
 * the outbox.
 */
const showsJobs = (command: Document) => 'commitTransaction' in command || command.find === 'outbox'

/**
 * A class of connections for one client, on which jobs see what their transactions wrote.
 *
 * On a sharded cluster a transaction may be visible on the shard of its job earlier than on its
 * other shards. So every read of a task waits until its shard has reached the time at which this
 * client saw the job. Reads that jobs share wait for the latest of their times. The wait is a part
 * of the read command, so it costs no command. A task cannot avoid it: it is decided here, for
 * whatever code reads, also in a transaction. Each client has a time of its own.
 * @see ADR 18
 */
export function causalConnection(): typeof MeasuredConnection {
  let seen: Seen | undefined

  return class CausalConnection extends MeasuredConnection {
    override async command(
      namespace: object,
      command: Document,
      options?: { readonly session?: ClientSession },
      responseType?: unknown,
    ): Promise<unknown> {
      const sent = seen && isInJob() ? causal(command, seen, options?.session) : command
      const reply = await super.command(namespace, sent, options, responseType)
      if (showsJobs(command)) seen = latest(seen, reply as Partial<Seen>)
      return reply
    }
  }
}

/** The command that waits for `seen`, if it reads. */
function causal(command: Document, seen: Seen, session: ClientSession | undefined): Document {
  if (seen.$clusterTime) session?.advanceClusterTime(seen.$clusterTime as never)
  // The driver sends it with the first command of a transaction.
  session?.advanceOperationTime(seen.operationTime)
  if (session?.inTransaction() || !reads.some((name) => name in command)) return command
  const { readConcern } = command
  if (readConcern?.level === 'snapshot') return command
  const waits = readConcern?.afterClusterTime as Timestamp | undefined
  const afterClusterTime = waits?.greaterThan(seen.operationTime) ? waits : seen.operationTime
  // A new object, because all other reads share the one of the command.
  return { ...command, readConcern: { ...readConcern, level: 'majority', afterClusterTime } }
}

/** The later one of two times. */
function latest(seen: Seen | undefined, reply: Partial<Seen>): Seen | undefined {
  const { operationTime, $clusterTime } = reply
  if (!operationTime || seen?.operationTime.greaterThanOrEqual(operationTime)) return seen
  return { operationTime, $clusterTime }
}
