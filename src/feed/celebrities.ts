import { requestTimeout, singleBatch } from '../db/client.ts'
import type { CelebrityDoc, Collections, StrategyDoc } from '../db/collections.ts'
import { fromObjectId, toObjectId } from '../db/object-id.ts'
import type { Transactions } from '../db/transaction.ts'
import type { Follows } from '../follows/follows.ts'
import type { Outbox } from '../jobs/outbox.ts'
import { batches } from '../lib/batch.ts'
import { type IdMint, type PostId, timeIdAt, timeOf, type UserId } from '../lib/ids.ts'
import type { PulledAuthors } from './pulled-authors.ts'
import type { AuthorFilter } from './strategies/author-filter.ts'

/** An author falls once followers are below this share of the threshold, so that one on the edge does not swing. */
const fallShare = 0.8
/** How long after an author came to be read the ids of posts that were still delivered may be: clocks differ by less. */
const clockMarginMs = 60_000
/** Followees whose standing is looked up at a time. */
const followeesAtOnce = 1_000

/** How an author's posts reach timelines. BOTH while an author changes from one of the two to the other. */
type Standing = 'DELIVERED' | 'READ' | 'BOTH'

/** What promotions and falls are stored and announced through. */
export interface CelebritiesParts {
  readonly collections: Pick<Collections, 'celebrities'>
  readonly pulled: PulledAuthors
  readonly outbox: Outbox
  readonly transactions: Transactions
  readonly mint: IdMint
}

/**
 * The authors whom HYBRID reads instead of delivering. Only a delivery decides who they are.
 * A delivery that finds many followers begins a promotion: posts are delivered and the author is noted with each
 * follower ({@link PulledAuthors}); once all followers have the note, posts are read alone. A delivery that finds few
 * followers begins a fall: posts are delivered again, and a job delivers those that were left out.
 * So each reader has a post, or a note of its author, at every moment.
 */
export class Celebrities implements AuthorFilter {
  constructor(private readonly parts: CelebritiesParts) {}

  /**
   * Notes with a reader those celebrities whom the reader follows, and the reader if it is one.
   * @returns those of them whose posts are not delivered now. Two commands for 1,000 followees, and one more where
   *   some of them are noted.
   */
  async noteFollowed(reader: UserId, follows: Follows): Promise<Set<UserId>> {
    const { collections, pulled } = this.parts
    const read = new Set<UserId>()
    for await (const some of batches(withSelf(reader, follows), followeesAtOnce)) {
      const found = await collections.celebrities
        .find({ _id: { $in: some } }, singleBatch)
        .toArray()
      const authors = found.map(({ _id }) => _id as UserId)
      await pulled.add([reader], authors)
      for (const doc of found) if (standing(doc) === 'READ') read.add(doc._id as UserId)
    }
    return read
  }

  /** Notes an author with a new follower, unless the author's posts are delivered alone. One command, two with a note. */
  async noteFollow(follower: UserId, author: UserId): Promise<void> {
    if ((await this.standingOf(author)) === 'DELIVERED') return
    await this.parts.pulled.add([follower], [author])
  }

  /** Whether posts of the author are delivered, and so stored. One command. */
  async accepts(author: UserId): Promise<boolean> {
    return (await this.standingOf(author)) !== 'READ'
  }

  /** How posts of this author are treated now. One command. */
  async standingOf(author: UserId): Promise<Standing> {
    return standing(await this.find(author))
  }

  /**
   * From which post on none of the author's is stored in any inbox; undefined where any may be. Posts below it may be
   * stored. One command.
   */
  async unstoredFrom(author: UserId): Promise<PostId | undefined> {
    const found = await this.find(author)
    if (!found?.readFrom || standing(found) !== 'READ') return undefined
    const afterMargin = timeOf(fromObjectId<PostId>(found.readFrom)).getTime() + clockMarginMs
    return timeIdAt<PostId>(afterMargin, '0'.repeat(12))
  }

  /**
   * Begins a promotion or a fall if it is time. An author who falls and has many followers again is read at once:
   * each follower has the note. One command, and one or a transaction where something changes.
   * @param registration HYBRID's, whose threshold is the number of followers from which on an author is read. Without a
   *   threshold, as in a registration of an older version until a server starts, no author changes sides.
   */
  async settle(author: UserId, followers: number, registration: StrategyDoc): Promise<void> {
    const { threshold } = registration.options
    if (threshold === undefined) return
    const found = await this.find(author)
    if (followers >= threshold) {
      const rose = found?.falling && (await this.endChange(author, { falling: found.falling }))
      // No mark, or one that its fall lifted since it was read.
      if (!found || (found.falling && !rose)) await this.beginPromotion(author)
    } else if (followers < threshold * fallShare && standing(found) === 'READ') {
      await this.beginFall(author)
    }
  }

  /** Whether this promotion or fall of the author's is still going on. One command. */
  async isChanging(author: UserId, change: 'promoting' | 'falling', id: string): Promise<boolean> {
    return (await this.find(author))?.[change]?.toHexString() === id
  }

  /** Ends a promotion: every follower has the note. Changes nothing where it is over. One command. */
  async promoted(author: UserId, promotion: string): Promise<void> {
    await this.endChange(author, { promoting: toObjectId(promotion as PostId) })
  }

  /** Ends a fall, unless the author rose again. One command. */
  async fallen(author: UserId, fall: string): Promise<void> {
    const own = { _id: author, falling: toObjectId(fall as PostId) }
    await this.parts.collections.celebrities.deleteOne(own, requestTimeout)
  }

  /**
   * Before INBOX is dropped: what it delivered of celebrities stays in the inboxes while HYBRID is maintained, so any of
   * their posts may be stored. One command.
   */
  async assumeStored(): Promise<void> {
    await this.parts.collections.celebrities.updateMany(
      { readFrom: { $exists: true } },
      { $unset: { readFrom: '' } },
    )
  }

  /** Removes all that is noted of a user who leaves, as a reader and as an author. */
  async forget(user: UserId): Promise<void> {
    const { collections, pulled } = this.parts
    await collections.celebrities.deleteOne({ _id: user }, requestTimeout)
    await pulled.forget(user)
  }

  private async find(author: UserId): Promise<CelebrityDoc | null> {
    return this.parts.collections.celebrities.findOne({ _id: author }, requestTimeout)
  }

  /** Has posts read alone from now on. @returns false if the change was over: nothing was written. */
  private async endChange(
    author: UserId,
    change: Pick<CelebrityDoc, 'promoting' | 'falling'>,
  ): Promise<boolean> {
    const { collections, mint } = this.parts
    const { matchedCount } = await collections.celebrities.updateOne(
      { _id: author, ...change },
      {
        $unset: { promoting: '', falling: '' },
        $set: { readFrom: toObjectId(mint.next<PostId>()) },
      },
      requestTimeout,
    )
    return matchedCount > 0
  }

  private async beginPromotion(author: UserId): Promise<void> {
    const { collections, outbox, transactions, mint } = this.parts
    const promotion = mint.next<PostId>()
    await transactions.run(async (tx) => {
      const { upsertedCount } = await collections.celebrities.updateOne(
        { _id: author },
        { $setOnInsert: { promoting: toObjectId(promotion) } },
        { session: tx.session, upsert: true },
      )
      if (upsertedCount === 0) return
      const payload = { author, promotion }
      await outbox.enqueue(tx, [{ kind: 'author.promoted', payload, lane: 'BULK' }])
    })
  }

  private async beginFall(author: UserId): Promise<void> {
    const { collections, outbox, transactions, mint } = this.parts
    const fall = mint.next<PostId>()
    await transactions.run(async (tx) => {
      const { matchedCount } = await collections.celebrities.updateOne(
        { _id: author, promoting: { $exists: false }, falling: { $exists: false } },
        { $set: { falling: toObjectId(fall) } },
        { session: tx.session },
      )
      if (matchedCount === 0) return
      const payload = { author, fall }
      await outbox.enqueue(tx, [{ kind: 'author.fell', payload, lane: 'BULK' }])
    })
  }
}

const standing = (found: CelebrityDoc | null): Standing =>
  !found ? 'DELIVERED' : found.promoting || found.falling ? 'BOTH' : 'READ'

async function* withSelf(reader: UserId, follows: Follows): AsyncGenerator<UserId> {
  yield reader
  yield* follows.followeesOf(reader)
}
