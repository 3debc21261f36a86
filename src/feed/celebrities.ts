import { atOnce, bounded } from '../db/client.ts'
import type { CelebrityDoc, Collections, StrategyDoc } from '../db/collections.ts'
import { toObjectId } from '../db/object-id.ts'
import type { Transactions, Tx } from '../db/transaction.ts'
import type { Follows } from '../follows/follows.ts'
import type { Outbox } from '../jobs/outbox.ts'
import type { IdMint, PostId, UserId } from '../lib/ids.ts'

/** An author falls once followers are below this share of the threshold, so that one on the edge does not swing. */
const fallShare = 0.8

/** How an author's posts reach timelines; BOTH while posts that were left out are being delivered. */
type Standing = 'DELIVERED' | 'READ' | 'BOTH'

/**
 * The authors whom HYBRID reads instead of delivering, which only a delivery decides: it marks the author before it
 * leaves out the first post, and lifts the mark after all posts that were left out have been delivered. In between both
 * is done. Every change raises the number in HYBRID's registration, by which a page tells that what it knew is old.
 */
export class Celebrities {
  private known: { readonly version: string; readonly authors: readonly UserId[] } | undefined

  constructor(
    private readonly collections: Pick<Collections, 'celebrities' | 'strategies'>,
    private readonly outbox: Outbox,
    private readonly transactions: Transactions,
    private readonly mint: IdMint,
  ) {}

  /** Those among the reader's followees, and the reader, who are to be read. One covered command; one more where the marks have changed. */
  async followedBy(
    reader: UserId,
    follows: Follows,
    { epoch, marks = 0 }: StrategyDoc,
    group: string | undefined,
  ): Promise<Set<UserId>> {
    const version = `${epoch.toHexString()}/${marks}`
    let known = this.known
    if (known?.version !== version) {
      // Read after the number, so at least as new as that.
      const all = await this.collections.celebrities.find({}, atOnce).toArray()
      known = { version, authors: all.map(({ _id }) => _id as UserId) }
      this.known = known
    }
    return among(reader, known.authors, follows, group)
  }

  /** As {@link followedBy}, those alone whose posts are not delivered at this moment. Two commands. */
  async readBy(reader: UserId, follows: Follows): Promise<Set<UserId>> {
    const read = { falling: { $exists: false } }
    const all = await this.collections.celebrities.find(read, atOnce).toArray()
    const authors = all.map(({ _id }) => _id as UserId)
    return among(reader, authors, follows, undefined)
  }

  /** How posts of this author are treated now. One command. */
  async standingOf(author: UserId): Promise<Standing> {
    return standing(await this.collections.celebrities.findOne({ _id: author }, bounded))
  }

  /**
   * Has an author with so many followers change sides if it is time: at once to being read; to being delivered by way
   * of both, until a job has delivered what was left out. One command, and a transaction where something changes.
   * @param registration HYBRID's, whose threshold is the number of followers from which on an author is read. Without a
   *   threshold, as in a registration of an older version until a server starts, no author changes sides.
   */
  async settle(author: UserId, followers: number, registration: StrategyDoc): Promise<void> {
    const { threshold } = registration.options
    if (threshold === undefined) return
    const now = await this.standingOf(author)
    if (followers >= threshold && now !== 'READ') {
      await this.mark(async (tx) => {
        await this.collections.celebrities.replaceOne(
          { _id: author },
          {},
          { session: tx.session, upsert: true },
        )
      })
    } else if (followers < threshold * fallShare && now === 'READ') {
      const falling = toObjectId(this.mint.next<PostId>())
      await this.mark(async (tx) => {
        const read = { _id: author, falling: { $exists: false } }
        const fell = await this.collections.celebrities.updateOne(
          read,
          { $set: { falling } },
          { session: tx.session },
        )
        const payload = { author, fall: falling.toHexString() }
        if (fell.matchedCount === 1) {
          await this.outbox.append(tx, 'author.fell', payload, { lane: 'BULK' })
        }
      })
    }
  }

  /** Whether this fall of the author's is still going on. One command. */
  async isFalling(author: UserId, fall: string): Promise<boolean> {
    const found = await this.collections.celebrities.findOne({ _id: author }, bounded)
    return found?.falling?.toHexString() === fall
  }

  /** Ends a fall, unless the author rose again. One transaction. */
  async fallen(author: UserId, fall: string): Promise<void> {
    const own = { _id: author, falling: toObjectId(fall as PostId) }
    await this.mark(async ({ session }) => {
      await this.collections.celebrities.deleteOne(own, { session })
    })
  }

  /** Lifts the mark of an author who is gone. One command, and a transaction where there is one. */
  async forget(author: UserId): Promise<void> {
    if ((await this.standingOf(author)) === 'DELIVERED') return
    await this.mark(async ({ session }) => {
      await this.collections.celebrities.deleteOne({ _id: author }, { session })
    })
  }

  private async mark(change: (tx: Tx) => Promise<void>): Promise<void> {
    await this.transactions.run(async (tx) => {
      await change(tx)
      await this.collections.strategies.updateOne(
        { _id: 'HYBRID' },
        { $inc: { marks: 1 } },
        { session: tx.session },
      )
    })
  }
}

const standing = (found: CelebrityDoc | null): Standing =>
  !found ? 'DELIVERED' : found.falling ? 'BOTH' : 'READ'

async function among(
  reader: UserId,
  authors: readonly UserId[],
  follows: Follows,
  group: string | undefined,
): Promise<Set<UserId>> {
  if (authors.length === 0) return new Set()
  const followed = await follows.followeesAmong(reader, authors, group)
  if (group === undefined && authors.includes(reader)) followed.add(reader)
  return followed
}
