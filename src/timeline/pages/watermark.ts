import { commandMsMax } from '../../db/client.ts'
import { transactionBounds } from '../../db/transaction.ts'
import { clockSkewMaxMs, neighbour, type PostId, timeIdAt, type UserId } from '../../lib/ids.ts'
import { type FeedStrategyName, isMaterialised } from '../strategies/list.ts'
import type { Pending, Waiting } from './pending.ts'

/**
 * How long after its id a post may become visible, in milliseconds. Its id is made in the
 * transaction that writes it. That transaction sends its commit within its bound, and the server
 * executes the commit within the bound of a command.
 */
export const commitMsMax = transactionBounds.answerMsMax + commandMsMax

/**
 * How long a delivery may hold back the watermark, in milliseconds: a parked delivery never ends.
 */
export const deliveryMsMax = 600_000

/** A watermark, and the deliveries that were read for it. */
export interface Watermark {
  readonly watermark: PostId
  /** Undefined for FANOUT_ON_READ. */
  readonly waiting?: Waiting
}

/** The low watermark of timelines: the place above which all their new posts will be (law L7). */
export class Watermarks {
  /** @param now the database's clock, in milliseconds since 1970. */
  constructor(
    private readonly pending: Pick<Pending, 'firstUndelivered' | 'findWaiting'>,
    private readonly now: () => number,
  ) {}

  /**
   * An id below every post that may still appear in the reader's timeline as a new post, for what
   * is read after the call. Two kinds of posts may still appear:
   * - posts of transactions that may still commit, in processes whose clock is behind by up to 1 s;
   * - posts of authors that the reader sees, while their delivery waits. Not with FANOUT_ON_READ. A
   *   delivery that takes more than ten minutes no longer counts, and its post appears below the
   *   watermark.
   *
   * No command for FANOUT_ON_READ. Otherwise one, and one more while a delivery to the reader
   * waits.
   */
  async load(reader: UserId, strategy: FeedStrategyName, group?: string): Promise<Watermark> {
    // Read before the deliveries. So a post that is committed after that read is above the
    // watermark.
    const now = this.now()
    const committed = below(now - commitMsMax - clockSkewMaxMs)
    if (!isMaterialised(strategy)) return { watermark: committed }
    const waiting = await this.pending.findWaiting(reader, group)
    const oldest = below(now - deliveryMsMax)
    const first = await this.pending.firstUndelivered(waiting.delivered, oldest)
    const undelivered = first === undefined ? committed : neighbour(first, -1)
    const mark = waiting.isMany ? oldest : undelivered
    return { watermark: mark < committed ? mark : committed, waiting }
  }
}

/** The id below all ids of a time and later. */
const below = (ms: number): PostId => neighbour(timeIdAt<PostId>(ms, '0'.repeat(12)), -1)
