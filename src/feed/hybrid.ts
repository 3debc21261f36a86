import type { StrategyDoc } from '../db/collections.ts'
import type { Tx } from '../db/transaction.ts'
import type { Follows } from '../follows/follows.ts'
import type { PostId, UserId } from '../lib/ids.ts'
import type { Celebrities } from './celebrities.ts'
import { inOrder } from './entries.ts'
import type { FanoutOnRead } from './fanout-on-read.ts'
import type { Inbox } from './inbox.ts'
import type { Ask, Candidates, Entry, MaterialisedStrategy, Stretch } from './strategy.ts'

/**
 * The inbox for ordinary authors; those with very many followers are read instead of delivered, and merged in.
 * It stores in INBOX's collection: what INBOX delivered besides vanishes as a repeat. Which authors are delivered is
 * the delivery's to decide ({@link Celebrities}).
 */
export class Hybrid implements MaterialisedStrategy {
  readonly backfilled = true

  constructor(
    private readonly inbox: Inbox,
    private readonly read: FanoutOnRead,
    private readonly celebrities: Celebrities,
    private readonly follows: Follows,
  ) {}

  /** INBOX's command beside one for whom of the celebrities the reader follows; with any, one for 200 of these. */
  async candidates(ask: Ask): Promise<Candidates> {
    const { reader, range, group, refused, registration } = ask
    if (!registration) return { entries: [], complete: false }
    // Who is read is looked up first: one who is delivered again by then has everything in the inbox.
    const followed = await this.celebrities.followedBy(reader, this.follows, registration, group)
    const authors = [...followed].filter((author) => !refused.has(author))
    if (authors.length === 0) return this.inbox.candidates(ask)
    const [delivered, theirs] = await Promise.all([
      this.inbox.candidates(ask),
      this.read.newest(authors, range),
    ])
    return { entries: inOrder([...delivered.entries, ...theirs], range), complete: true }
  }

  depthMax(): number {
    return Number.POSITIVE_INFINITY
  }

  async deliver(entry: Entry, readers: readonly UserId[]): Promise<void> {
    await this.inbox.deliver(entry, readers)
  }

  async merge(reader: UserId, stretch: Stretch): Promise<void> {
    await this.inbox.merge(reader, stretch)
  }

  async forget(
    readers: readonly UserId[],
    posts: readonly PostId[],
    registration: StrategyDoc,
    tx?: Tx,
  ): Promise<void> {
    await this.inbox.forget(readers, posts, registration, tx)
  }

  async forgetReader(reader: UserId): Promise<void> {
    await this.inbox.forgetReader(reader)
  }
}
