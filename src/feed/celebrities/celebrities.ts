import { requestTimeout, singleBatch } from '../../db/client.ts'
import type { CelebrityDoc, Collections, StrategyDoc } from '../../db/collections.ts'
import { fromObjectId, toObjectId } from '../../db/object-id.ts'
import type { Transactions } from '../../db/transaction.ts'
import type { Outbox } from '../../jobs/outbox.ts'
import { chunks } from '../../lib/batch.ts'
import { type IdMint, type PostId, timeIdAt, timeOf, type UserId } from '../../lib/ids.ts'
import type { AuthorFilter } from '../strategies/author-filter.ts'
import type { PulledAuthors } from './pulled-authors.ts'

/**
 * The share of the threshold below which an author is demoted. Below 1, so that small changes of the audience do not
 * count.
 */
const demotionShare = 0.8
/**
 * Bound of the difference between two clocks, in milliseconds. Posts delivered before `readFrom` may have ids this much
 * later.
 */
const clockMarginMs = 60_000
/** Number of authors whose delivery mode one command loads. */
const authorsPerBatch = 1_000
/** Number of notes that one command stores. */
const notesPerBatch = 1_000

/** How HYBRID gets an author's posts into timelines. BOTH during a promotion or a demotion. */
type DeliveryMode = 'DELIVERED' | 'READ' | 'BOTH'

/** The parts that {@link Celebrities} works with. */
export interface CelebritiesParts {
  readonly collections: Pick<Collections, 'celebrities'>
  readonly pulled: PulledAuthors
  readonly outbox: Outbox
  readonly transactions: Transactions
  readonly mint: IdMint
}

/**
 * Decides which authors HYBRID reads instead of delivering. Only a delivery promotes or demotes an author.
 * Promotion: a job notes the author with each follower ({@link PulledAuthors}) while posts are still delivered. When
 * all followers have the note, posts are only read.
 * Demotion: posts are delivered again, and a job delivers the posts that were left out.
 * So each reader has the post, or the note of its author, at every moment.
 */
export class Celebrities implements AuthorFilter {
  constructor(private readonly parts: CelebritiesParts) {}

  /**
   * Notes the celebrities among the authors of readers' timelines. One command for each 1,000 authors, and one more for
   * each 1,000 notes.
   * @returns the noted authors whose posts are not delivered now.
   */
  async noteFollowees(
    authorsOf: ReadonlyMap<UserId, readonly UserId[]>,
  ): Promise<ReadonlySet<UserId>> {
    const { collections, pulled } = this.parts
    const celebrities = new Map<UserId, CelebrityDoc>()
    for (const some of chunks([...new Set([...authorsOf.values()].flat())], authorsPerBatch)) {
      const found = await collections.celebrities
        .find({ _id: { $in: [...some] } }, singleBatch)
        .toArray()
      for (const doc of found) celebrities.set(doc._id as UserId, doc)
    }
    const notes = [...authorsOf].flatMap(([reader, authors]) =>
      authors.filter((author) => celebrities.has(author)).map((author) => ({ reader, author })),
    )
    for (const some of chunks(notes, notesPerBatch)) await pulled.storeNotes(some)
    const read = [...celebrities].filter(([, doc]) => toDeliveryMode(doc) === 'READ')
    return new Set(read.map(([author]) => author))
  }

  /**
   * Notes an author with a new follower, unless posts of the author are only delivered. One command, two with a note.
   */
  async noteFollow(follower: UserId, author: UserId): Promise<void> {
    if ((await this.deliveryModeOf(author)) === 'DELIVERED') return
    await this.parts.pulled.addNotes([follower], [author])
  }

  /** Whether deliveries store new posts of the author. One command. */
  async accepts(author: UserId): Promise<boolean> {
    return (await this.deliveryModeOf(author)) !== 'READ'
  }

  /** Loads how HYBRID gets posts of the author into timelines now. One command. */
  async deliveryModeOf(author: UserId): Promise<DeliveryMode> {
    return toDeliveryMode(await this.findCelebrity(author))
  }

  /** Loads the first id from which no inbox holds posts of the author. Undefined if any may be stored. One command. */
  async firstUnstoredId(author: UserId): Promise<PostId | undefined> {
    const found = await this.findCelebrity(author)
    if (!found?.readFrom || toDeliveryMode(found) !== 'READ') return undefined
    const afterMargin = timeOf(fromObjectId<PostId>(found.readFrom)).getTime() + clockMarginMs
    return timeIdAt<PostId>(afterMargin, '0'.repeat(12))
  }

  /**
   * Begins a promotion if the author has at least `threshold` followers, and a demotion below 80 % of it.
   * An author with many followers again during a demotion is read at once, because each follower has the note.
   * One command, and one more or a transaction if the mode changes.
   * @param registration the registration of HYBRID. Without a threshold, as in one of an older version, no mode
   *   changes.
   */
  async updateDeliveryMode(
    author: UserId,
    followers: number,
    registration: StrategyDoc,
  ): Promise<void> {
    const { threshold } = registration.options
    if (threshold === undefined) return
    const found = await this.findCelebrity(author)
    if (followers >= threshold) {
      const promotedAgain =
        found?.demoting && (await this.beginReading(author, { demoting: found.demoting }))
      // The author has no document, or the demotion has removed it since it was read.
      if (!found || (found.demoting && !promotedAgain)) await this.beginPromotion(author)
    } else if (followers < threshold * demotionShare && toDeliveryMode(found) === 'READ') {
      await this.beginDemotion(author)
    }
  }

  /** Whether this promotion or demotion of the author has not ended. One command. */
  async isChanging(author: UserId, change: 'promoting' | 'demoting', id: string): Promise<boolean> {
    return (await this.findCelebrity(author))?.[change]?.toHexString() === id
  }

  /** Ends a promotion after every follower has the note. Changes nothing if it is over. One command. */
  async completePromotion(author: UserId, promotion: string): Promise<void> {
    await this.beginReading(author, { promoting: toObjectId(promotion as PostId) })
  }

  /** Ends a demotion, unless the author was promoted again. One command. */
  async completeDemotion(author: UserId, demotion: string): Promise<void> {
    const own = { _id: author, demoting: toObjectId(demotion as PostId) }
    await this.parts.collections.celebrities.deleteOne(own, requestTimeout)
  }

  /**
   * Notes that inboxes may hold any post of a celebrity. To be called before INBOX is dropped: its entries stay while
   * HYBRID is maintained. One command.
   */
  async assumeStored(): Promise<void> {
    await this.parts.collections.celebrities.updateMany(
      { readFrom: { $ne: null } },
      { $set: { readFrom: null } },
    )
  }

  /**
   * Removes the notes of a deleted user, as a reader and as an author. Commands as in {@link PulledAuthors.removeUser},
   * and one.
   */
  async removeUser(user: UserId): Promise<void> {
    const { collections, pulled } = this.parts
    await collections.celebrities.deleteOne({ _id: user }, requestTimeout)
    await pulled.removeUser(user)
  }

  private async findCelebrity(author: UserId): Promise<CelebrityDoc | null> {
    return this.parts.collections.celebrities.findOne({ _id: author }, requestTimeout)
  }

  /**
   * Ends deliveries of the author's posts: from now on they are only read. @returns false if `change` was over. One
   * command.
   */
  private async beginReading(
    author: UserId,
    change: Pick<CelebrityDoc, 'promoting' | 'demoting'>,
  ): Promise<boolean> {
    const { collections, mint } = this.parts
    const { matchedCount } = await collections.celebrities.updateOne(
      { _id: author, ...change },
      {
        $unset: { promoting: '', demoting: '' },
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
      await outbox.enqueue(tx, [{ kind: 'author.promoted', payload, queue: 'BULK' }])
    })
  }

  private async beginDemotion(author: UserId): Promise<void> {
    const { collections, outbox, transactions, mint } = this.parts
    const demotion = mint.next<PostId>()
    await transactions.run(async (tx) => {
      const { matchedCount } = await collections.celebrities.updateOne(
        { _id: author, promoting: { $exists: false }, demoting: { $exists: false } },
        { $set: { demoting: toObjectId(demotion) } },
        { session: tx.session },
      )
      if (matchedCount === 0) return
      const payload = { author, demotion }
      await outbox.enqueue(tx, [{ kind: 'author.demoted', payload, queue: 'BULK' }])
    })
  }
}

const toDeliveryMode = (found: CelebrityDoc | null): DeliveryMode =>
  !found ? 'DELIVERED' : found.promoting || found.demoting ? 'BOTH' : 'READ'
