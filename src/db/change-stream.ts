import { type ClientSession, type Db, type Document, Timestamp } from 'mongodb'

/** Of a batch. At 32 kB an event, so many have 16 MB, at which the server ends a batch of fewer. */
const batchMax = 500

/** The most events between two proofs. Whoever is further behind does better to begin again. */
const backlogMax = 20_000

interface Primary {
  readonly electionId: string
  /** The last write that it has. */
  readonly lastWrite: bigint
  /** The last write of which it knows that a majority has it. */
  readonly majorityWrite: bigint
}

/**
 * An open change stream of a database, which begins with the next write, and which proves that it has read everything.
 * Once one of its methods has thrown, it is of no more use but to be closed. Nothing is repeated: a repeated `getMore` would
 * miss the batch of the first.
 */
export class ChangeStream {
  private isClosed = false
  /** Every event up to here has been read, of those after the beginning. */
  private readTo: bigint
  private readAt: Timestamp
  /** Whether the last proof had to read. */
  private wasBehind = false

  private constructor(
    private readonly db: Db,
    private readonly session: ClientSession,
    private readonly cursor: { readonly id: unknown; readonly collection: string },
    private readonly first: Primary,
    /** Before the first event, the server's token names the time that the next write may have. */
    private readonly firstToken: string,
  ) {
    this.readTo = timeOf(firstToken) - 1n
    this.readAt = new Timestamp(this.readTo)
  }

  /**
   * Opens a stream on the primary. Two commands.
   * @param stages what follows `$changeStream`. They keep `_id`, and leave at most 32 kB of an event.
   */
  static async open(db: Db, stages: readonly Document[]): Promise<ChangeStream> {
    const session = db.client.startSession({ causalConsistency: false })
    try {
      const primary = await readPrimary(db)
      const { cursor } = await db.command(
        {
          aggregate: 1,
          pipeline: [{ $changeStream: {} }, ...stages],
          cursor: { batchSize: 0 },
          readConcern: { level: 'majority' },
        },
        { session },
      )
      const [, collection = ''] = /\.(.*)/.exec(cursor.ns) ?? []
      const token = cursor.postBatchResumeToken._data
      return new ChangeStream(db, session, { id: cursor.id, collection }, primary, token)
    } catch (error) {
      await session.endSession()
      throw error
    }
  }

  /**
   * A read that waits for this time (`afterClusterTime`) sees every event that was read, and every write before the
   * stream began. The server has this time: the wait never fails, and ends once a majority has what the primary has.
   */
  get position(): Timestamp {
    return this.readAt
  }

  /**
   * Reads until every write has been read that any process was told of before the call (with write concern `majority`).
   * One command if nothing was written, usually two otherwise.
   * @param take receives the events in their order, in batches.
   * @throws {Error} if another primary was elected, or if more than 20,000 events have been written.
   */
  async readAll(take: (events: readonly Document[]) => void): Promise<void> {
    const [primary, batch] = await Promise.all([
      readPrimary(this.db),
      this.wasBehind ? this.readBatch() : undefined,
    ])
    // A server that has stepped down goes on to serve the cursor, and may lag behind.
    if (primary.electionId !== this.first.electionId) throw new Error('another primary was elected')
    // A new primary learns late which of its writes a majority has.
    const goal = later(primary.majorityWrite, this.first.lastWrite)
    this.wasBehind = this.readTo < goal
    let events = batch ? this.take(batch, take) : 0
    while (this.readTo < goal) {
      if (events > backlogMax) throw new Error(`more than ${backlogMax} events were written`)
      events += this.take(await this.readBatch(), take)
    }
  }

  /** Frees what the server keeps. At most one command. Never throws. */
  async close(): Promise<void> {
    if (this.isClosed) return
    this.isClosed = true
    const { id, collection } = this.cursor
    await this.db
      .command({ killCursors: collection, cursors: [id] }, { session: this.session })
      .catch(() => {})
    await this.session.endSession()
  }

  private async readBatch(): Promise<Batch> {
    const { id, collection } = this.cursor
    const { cursor } = await this.db.command(
      { getMore: id, collection, batchSize: batchMax, maxTimeMS: 1 },
      { session: this.session },
    )
    return { events: cursor.nextBatch, token: cursor.postBatchResumeToken._data }
  }

  private take({ events, token }: Batch, take: (events: readonly Document[]) => void): number {
    if (this.isClosed) throw new Error('the stream was closed')
    if (events.length > 0) take(events)
    if (token !== this.firstToken) {
      const time = timeOf(token)
      this.readAt = new Timestamp(time)
      // The next batch may begin with another event of the same transaction.
      this.readTo = events.length < batchMax ? time : time - 1n
    }
    return events.length
  }
}

interface Batch {
  readonly events: readonly Document[]
  readonly token: string
}

/** The state of the primary, or of the server that the driver takes for it. One command. */
async function readPrimary(db: Db): Promise<Primary> {
  const { isWritablePrimary, electionId, lastWrite } = await db.command({ hello: 1 })
  if (!isWritablePrimary) throw new Error('the primary has stepped down')
  return {
    electionId: electionId.toHexString(),
    lastWrite: lastWrite.opTime.ts.toBigInt(),
    majorityWrite: lastWrite.majorityOpTime.ts.toBigInt(),
  }
}

/** The cluster time of a resume token: 8 bytes after that of their type. */
const timeOf = (token: string): bigint => BigInt(`0x${token.slice(2, 18)}`)

const later = (one: bigint, other: bigint): bigint => (one > other ? one : other)
