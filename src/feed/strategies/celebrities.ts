import { requestTimeout, singleBatch } from '../../db/client.ts'
import type { Collections, StrategyDoc } from '../../db/collections.ts'
import type { ObjectId } from '../../db/mongo.ts'
import { fromObjectId, isObjectId, toObjectId } from '../../db/object-id.ts'
import { shareReads } from '../../db/shared-reads.ts'
import type { Tx } from '../../db/transaction.ts'
import type { Versions } from '../../db/versions.ts'
import { type IdMint, type PostId, timeIdAt, timeOf, type UserId } from '../../lib/ids.ts'

/**
 * The most celebrities of a database, because every process holds all of them: about 10 MB. Posts of further authors are
 * stored, whatever number of followers they have.
 */
const celebritiesMax = 100_000
/**
 * Bound of the difference between two clocks, in milliseconds. Posts that were delivered before an author became a
 * celebrity may have ids this much later.
 */
const clockMarginMs = 60_000

/** The parts that {@link Celebrities} works with. */
export interface CelebritiesParts {
  readonly collections: Pick<Collections, 'celebrities' | 'strategies'>
  /** Runs a transaction that excludes other changes of registrations. */
  readonly runExclusive: <T>(work: (tx: Tx) => Promise<T>) => Promise<T>
  readonly versions: Pick<Versions, 'isOn'>
  readonly mint: IdMint
  /** An author with more followers becomes a celebrity with the next delivery by this process. 0: none does. */
  readonly followersMax: number
}

/** Celebrities, each with the first id from which no inbox holds posts of the author. Undefined: any may be stored. */
export type CelebritySet = ReadonlyMap<UserId, PostId | undefined>

const none: CelebritySet = new Map()

/**
 * The authors whose posts INBOX reads with each page instead of storing them: the outlier pattern on authors. While a
 * process of the previous release may run, no author becomes one.
 * An author stays a celebrity while INBOX is registered. The transaction that adds one also changes the registration.
 * Every page compares the registration under which it was read with the current one, as it does for a drop. So each page
 * of any process knows all celebrities whose posts are not delivered, and no timeline lacks a post.
 * @see law L1
 */
export class Celebrities {
  private latest: { readonly change: string; readonly authors: Promise<CelebritySet> } | undefined
  private readonly readAll: () => Promise<CelebritySet>

  constructor(private readonly parts: CelebritiesParts) {
    const read = shareReads('celebrities', () => this.read())
    this.readAll = () => read([])
  }

  /**
   * The celebrities under a registration of INBOX. No command, but one after a change: it reads all celebrities.
   * @param registration undefined, or without a celebrity so far: no command, and no celebrities.
   */
  async load(registration: Pick<StrategyDoc, 'celebrities'> | undefined): Promise<CelebritySet> {
    const change = registration?.celebrities?.toHexString()
    if (change === undefined) return none
    if (this.latest?.change !== change) {
      const latest = { change, authors: this.readAll() }
      this.latest = latest
      latest.authors.catch(() => {
        if (this.latest === latest) this.latest = undefined
      })
    }
    return this.latest.authors
  }

  /** Whether deliveries of this process make an author with this many followers a celebrity. */
  isOutlier(followers: number): boolean {
    return this.parts.followersMax > 0 && followers > this.parts.followersMax
  }

  /**
   * Whether an author is a celebrity, also because this call made it one. No command, but two transactions of five for a
   * new celebrity, and the command of {@link load}.
   * @param registration of INBOX. Undefined: no author is a celebrity.
   */
  async includes(
    author: UserId,
    followers: number,
    registration: StrategyDoc | undefined,
  ): Promise<boolean> {
    const celebrities = await this.load(registration)
    if (celebrities.has(author)) return true
    if (!registration || !this.isOutlier(followers) || celebrities.size >= celebritiesMax)
      return false
    const { collections, mint, runExclusive, versions } = this.parts
    if (!(await versions.isOn('celebrities'))) return false
    const isAdded = await runExclusive(async (tx) => {
      const readFrom = toObjectId(mint.next<PostId>())
      // INBOX may have been dropped since the registration was read.
      if (!(await this.changeRegistration(tx, readFrom))) return false
      const update = { $setOnInsert: { readFrom } }
      await collections.celebrities.updateOne({ _id: author }, update, { ...tx, upsert: true })
      return true
    })
    // On a sharded cluster, a read in a later transaction waits until pages see the change.
    if (isAdded) await runExclusive((tx) => collections.strategies.findOne({ _id: 'INBOX' }, tx))
    return isAdded
  }

  /** Forgets a deleted author. One command, and a transaction of five for a celebrity. */
  async remove(author: UserId): Promise<void> {
    const { collections, mint, runExclusive } = this.parts
    if (!(await collections.celebrities.findOne({ _id: author }, requestTimeout))) return
    await runExclusive(async (tx) => {
      await this.changeRegistration(tx, toObjectId(mint.next<PostId>()))
      await collections.celebrities.deleteOne({ _id: author }, tx)
    })
  }

  private async changeRegistration(tx: Tx, celebrities: ObjectId): Promise<boolean> {
    const inbox = { _id: 'INBOX', dropping: { $exists: false } } as const
    const { matchedCount } = await this.parts.collections.strategies.updateOne(
      inbox,
      { $set: { celebrities } },
      tx,
    )
    return matchedCount === 1
  }

  private async read(): Promise<CelebritySet> {
    const docs = await this.parts.collections.celebrities.find({}, singleBatch).toArray()
    return new Map(
      docs.map(({ _id, readFrom }) => {
        if (!isObjectId(readFrom)) return [_id as UserId, undefined]
        const afterMargin = timeOf(fromObjectId<PostId>(readFrom)).getTime() + clockMarginMs
        return [_id as UserId, timeIdAt<PostId>(afterMargin, '0'.repeat(12))]
      }),
    )
  }
}
