import { type ClientSession, type Db, type Document, Timestamp } from 'mongodb'
import { readNotBefore } from './client.ts'

/** The events of a batch. The server ends a batch of fewer at 16 MB, which is 32 kB an event. */
const batchMax = 500

/** The most events between two proofs. A process that is further behind had better begin again. */
const backlogMax = 20_000

/** What the primary says about itself. Times are cluster times. */
interface Primary {
  readonly isWritable: boolean
  /** Changes with each election. */
  readonly election: string
  /** The last write that it has. */
  readonly lastWrite: Timestamp
  /** The last write of which it knows that a majority has it. */
  readonly majorityWrite: Timestamp
}

/** Events that were read together. */
interface Batch {
  readonly events: readonly Document[]
  /** The server has looked for events up to this time. */
  readonly time: bigint
}

/**
 * An open change stream of a database that proves that it has read everything. It begins at the
 * last write that the primary has, so after all that earlier primaries acknowledged.
 *
 * Once one of its methods has thrown, it can only be closed. No command is repeated, because a
 * repeated `getMore` would lose the batch of the first one.
 */
export class ChangeStream {
  private isClosed = false
  /** All events up to here have been read. */
  private readTo: bigint
  private readAt: Timestamp
  /** Whether the last proof had to read. */
  private wasBehind = false

  private constructor(
    private readonly db: Db,
    private readonly session: ClientSession,
    private readonly cursor: { readonly id: unknown; readonly collection: string },
    private readonly first: Primary,
  ) {
    this.readAt = first.lastWrite
    this.readTo = first.lastWrite.toBigInt()
    readNotBefore(db.client, this.readAt)
  }

  /**
   * Opens a stream on the primary. Two commands.
   * @param stages follow `$changeStream`. They keep `_id`, and leave at most 32 kB of an event.
   * @throws {Error} if the server that the driver takes for the primary has stepped down.
   */
  static async open(db: Db, stages: readonly Document[]): Promise<ChangeStream> {
    const session = db.client.startSession({ causalConsistency: false })
    try {
      const primary = await readPrimary(db)
      if (!primary.isWritable) throw new Error('the primary has stepped down')
      // Without a time, the stream begins at the time that the next write will have. Its tokens
      // then have this time both before and after they cover that write.
      const { cursor } = await db.command(
        {
          aggregate: 1,
          pipeline: [{ $changeStream: { startAtOperationTime: primary.lastWrite } }, ...stages],
          cursor: { batchSize: 0 },
          readConcern: { level: 'majority' },
        },
        // Otherwise one of a thousand cursors has an id that the driver sends back as another type.
        { session, promoteLongs: false },
      )
      const collection = cursor.ns.slice(cursor.ns.indexOf('.') + 1)
      return new ChangeStream(db, session, { id: cursor.id, collection }, primary)
    } catch (error) {
      await session.endSession()
      throw error
    }
  }

  /**
   * A read that waits for this time (`afterClusterTime`) sees every event that was read, and every
   * write before the stream began. The primary has reached it.
   */
  get position(): Timestamp {
    return this.readAt
  }

  /**
   * Reads until it has every write with write concern `majority` that was acknowledged before the
   * call, in any process. One command if nothing was written, usually two otherwise.
   * @param take receives the events in their order, in batches.
   * @throws {Error} if another primary was elected, or if more than 20,000 events have been
   *   written.
   */
  async readAll(take: (events: readonly Document[]) => void): Promise<void> {
    const [primary, batch] = await Promise.all([
      readPrimary(this.db),
      this.wasBehind ? this.readBatch() : undefined,
    ])
    this.checkPrimary(primary)
    const goal = primary.majorityWrite.toBigInt()
    this.wasBehind = this.isBehind(goal)
    let events = batch ? this.pass(batch, take) : 0
    while (this.isBehind(goal)) {
      events += this.pass(await this.readBatch(), take)
      if (events > backlogMax) throw new Error(`more than ${backlogMax} events were not read`)
    }
  }

  /** Frees what the server keeps. At most one command. Never throws. */
  async close(): Promise<void> {
    if (this.isClosed) return
    this.isClosed = true
    const { id, collection } = this.cursor
    const { session } = this
    await this.db.command({ killCursors: collection, cursors: [id] }, { session }).catch(() => {})
    await session.endSession()
  }

  private async readBatch(): Promise<Batch> {
    const { id, collection } = this.cursor
    const { cursor } = await this.db.command(
      { getMore: id, collection, batchSize: batchMax, maxTimeMS: 1 },
      { session: this.session },
    )
    // A resume token begins with a byte for its type and 8 bytes for its time.
    const time = BigInt(`0x${cursor.postBatchResumeToken._data.slice(2, 18)}`)
    return { events: cursor.nextBatch, time }
  }

  /** @returns the number of events. */
  private pass(batch: Batch, take: (events: readonly Document[]) => void): number {
    if (this.isClosed) throw new Error('the stream was closed')
    if (batch.events.length > 0) take(batch.events)
    this.readAt = new Timestamp(batch.time)
    readNotBefore(this.db.client, this.readAt)
    this.readTo = this.completeTo(batch)
    return batch.events.length
  }

  /**
   * After a full batch, the next one may have events of the same time: those of a transaction have
   * one time.
   */
  private completeTo({ events, time }: Batch): bigint {
    return events.length < batchMax ? time : time - 1n
  }

  private isBehind(goal: bigint): boolean {
    return this.readTo < goal
  }

  /**
   * A server that has stepped down continues to serve the cursor, and may lag behind the new
   * primary.
   */
  private checkPrimary({ isWritable, election }: Primary): void {
    if (!isWritable || election !== this.first.election)
      throw new Error('another primary was elected')
  }
}

/** Asks the primary, or the server that the driver takes for it. One command. */
async function readPrimary(db: Db): Promise<Primary> {
  const { isWritablePrimary, electionId, lastWrite } = await db.command({ hello: 1 })
  return {
    isWritable: isWritablePrimary,
    election: String(electionId),
    lastWrite: lastWrite.opTime.ts,
    majorityWrite: lastWrite.majorityOpTime.ts,
  }
}
