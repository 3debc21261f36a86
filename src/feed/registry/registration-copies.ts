import { requestTimeout, singleBatch } from '../../db/client.ts'
import type { Collections, CopiedRegistration, StrategyDoc } from '../../db/collections.ts'
import { copiesMark } from '../../db/marks.ts'
import { conforms, shapes } from '../../db/shapes.ts'
import type { Transactions, Tx } from '../../db/transaction.ts'
import type { Versions } from '../../db/versions.ts'
import { stripeOf } from '../../lib/stripe.ts'
import type { Registered } from './registry.ts'

/** Number of copies. On a sharded cluster, the hash of its id decides the shard of each. */
const copyCount = 16

const copyIds: readonly string[] = Array.from(
  { length: copyCount },
  (_, at) => `s${String(at).padStart(2, '0')}`,
)

const allCopies = { _id: { $in: [...copyIds] } }

/** The id of the copy that pages of this reader, and deliveries of this author, read. */
export const copyIdOf = (user: string): string => copyIds[stripeOf(user, copyCount)] as string

/** The copies that are not as the registrations are. */
interface Differences {
  readonly registrations: readonly CopiedRegistration[]
  /** Copies with other content. */
  readonly stale: readonly string[]
  /** Copies that do not exist. Their readers read the registrations themselves. */
  readonly missing: readonly string[]
}

/**
 * Keeps copies of the registrations, so that pages and deliveries do not all read from one shard. A copy holds what
 * identifies each registration and how it stores. Only `strategies` has the progress of back-fills, which changes often.
 *
 * Each transaction that changes the set of registrations writes all copies. Such transactions run one after the other.
 * There are no copies while processes of a release may run that writes none: see `feedline migrate --previous-stopped`.
 *
 * On a sharded cluster, the copies of one transaction may become visible at different moments. Until
 * {@link awaitVisible} has returned, a page may find that its registration has not changed. So nothing that a page
 * reads under a registration is removed or written again before. A job that writes nothing for a strategy, because its
 * copy says so, first waits for the other copies: see {@link awaitShown}.
 * @see law L1
 */
export class RegistrationCopies {
  private isMarked = false
  /** The registrations, as text, that all shards show after a read. Concurrent jobs share it. */
  private shown: { readonly registrations: string; readonly read: Promise<void> } | undefined

  constructor(
    private readonly collections: Pick<Collections, 'strategies' | 'registration_copies' | 'meta'>,
    private readonly transactions: Transactions,
    private readonly versions: Pick<Versions, 'isSharded'>,
  ) {}

  /**
   * Makes all copies equal to the registrations, as the transaction sees them. Call it last. Two commands, and one more
   * if a copy differs. While there may be no copies, it deletes any: two commands.
   */
  async write(tx: Tx): Promise<void> {
    if (!(await this.areKept(tx))) {
      await this.collections.registration_copies.deleteMany(allCopies, { session: tx.session })
      return
    }
    const { registrations, stale, missing } = await this.findDifferences(tx)
    const operations = [...stale, ...missing].map((_id) => ({
      replaceOne: { filter: { _id }, replacement: { registrations }, upsert: true },
    }))
    if (operations.length === 0) return
    const options = { session: tx.session, ordered: false }
    await this.collections.registration_copies.bulkWrite(operations, options)
  }

  /** Whether all copies exist and are right, or there may be none and is none. At most three commands. */
  async areCurrent(): Promise<boolean> {
    if (!(await this.areKept(requestTimeout)))
      return (
        (await this.collections.registration_copies.findOne(allCopies, requestTimeout)) === null
      )
    const { stale, missing } = await this.findDifferences(requestTimeout)
    return stale.length + missing.length === 0
  }

  /** Compares all copies with the registrations. Two commands. @param at the options of the reads. */
  async findDifferences(at: object): Promise<Differences> {
    const docs = await this.collections.strategies
      .find({}, { ...singleBatch, ...at })
      .sort({ _id: 1 })
      .toArray()
    const copies = await this.readCopies(at)
    const registrations = docs.map(toCopied)
    const expected = JSON.stringify(registrations)
    const contents = new Map(
      copies.map((copy) => [
        copy._id,
        conforms(shapes.registration_copies, copy)
          ? JSON.stringify(copy.registrations.map(toCopied))
          : 'another shape',
      ]),
    )
    return {
      registrations,
      stale: copyIds.filter((id) => contents.has(id) && contents.get(id) !== expected),
      missing: copyIds.filter((id) => !contents.has(id)),
    }
  }

  /**
   * Waits until all shards show what a transaction has committed, so that no later page finds the copies from before,
   * nor the registrations if it finds no copy. Two commands.
   */
  async awaitVisible(committed: Tx): Promise<void> {
    await this.transactions.readAfter(committed, (at) => this.findDifferences(at))
  }

  /**
   * As {@link awaitVisible}, in the task of a job: all shards then show what the transaction of the job has committed.
   */
  async awaitVisibleInJob(): Promise<void> {
    await this.findDifferences(requestTimeout)
  }

  /**
   * Waits until all shards show registrations that a job has read, or later ones. Then no later page passes its check
   * under earlier ones. Call it before the job leaves out what their strategies do not store.
   *
   * The first read of all copies sees at least what the job saw. The later ones wait on each shard for what it saw.
   * Three commands on a sharded cluster if the registrations are others than at the last call, otherwise none. The
   * first call of a process may load the marks of the database: two commands.
   * @throws {Error} if a copy differs from the registrations, because they are changed now, or until servers restore it.
   */
  async awaitShown(registered: Registered): Promise<void> {
    if (!(await this.versions.isSharded())) return
    const seen = JSON.stringify([...registered.values()].map(toCopied))
    if (this.shown?.registrations !== seen) {
      const shown = { registrations: seen, read: this.readTwice() }
      this.shown = shown
      shown.read.catch(() => {
        if (this.shown === shown) this.shown = undefined
      })
    }
    await this.shown.read
  }

  private readTwice(): Promise<void> {
    return this.transactions.readAfter(undefined, async (at) => {
      await this.readCopies(at)
      const { stale } = await this.findDifferences(at)
      if (stale.length > 0) throw new Error('a copy of the registrations differs from them')
    })
  }

  private readCopies(at: object) {
    return this.collections.registration_copies.find(allCopies, { ...singleBatch, ...at }).toArray()
  }

  /** Whether all processes write copies. Once they do, they always will. */
  private async areKept(at: object): Promise<boolean> {
    this.isMarked ||= (await this.collections.meta.findOne({ _id: copiesMark }, at)) !== null
    return this.isMarked
  }
}

/** With its fields in this order, so that equal registrations are equal as text. */
const toCopied = ({ _id, epoch, dropping, options }: StrategyDoc | CopiedRegistration) => ({
  ...{ _id, epoch },
  ...(dropping ? { dropping } : {}),
  options,
})
