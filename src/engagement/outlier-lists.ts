import { setTimeout as sleep } from 'node:timers/promises'
import { commitAdmitted, type Refusals } from '../db/admitted.ts'
import { requestTimeout } from '../db/client.ts'
import type { Collections } from '../db/collections.ts'
import { lockedAgain } from '../db/collisions.ts'
import { deadlineOf, isLate, tooLate } from '../db/deadline.ts'
import {
  type Answer,
  type Answers,
  type Batch,
  GroupCommit,
  type GroupCommitBounds,
  type Turn,
} from '../db/group-commit.ts'
import { HotKeys } from '../db/hot-keys.ts'
import type { IdempotencyKey } from '../db/idempotency.ts'
import { fromObjectId, toObjectId } from '../db/object-id.ts'
import type { Transactions, Tx } from '../db/transaction.ts'
import type { EngagementId, PostRef, UserId } from '../lib/ids.ts'
import type { Admission } from './admission.ts'
import { FastPath } from './fast-path.ts'
import { kinds } from './kinds.ts'
import type { ListResult, ListWrite } from './list-plan.ts'
import { storedKey } from './list-store.ts'
import { ListTransaction, type ListTransactionParts, type QueuedWrite } from './list-transaction.ts'
import { TurnAdmissions } from './turn-admissions.ts'
import type { UnsureEntries } from './unsure.ts'

const bounds: GroupCommitBounds = {
  name: 'engagement',
  batchMax: 256,
  waitingMax: 20_000,
  waitMsMax: 4_000,
  lingerMs: 2,
  begins: 'IN_TURNS',
}

/** How long an admission may keep the next turn waiting, and how long a transaction that locks its post, in milliseconds. */
const admissionMsMax = { turn: 100, transaction: 500 }

/** How long transactions begin after their admission, once one had to be repeated, in milliseconds. */
const admitsFirstMs = 2_000

/** Thrown in the transaction of a batch that must not commit as a whole. */
class NotAdmitted extends Error {
  override readonly name = 'NotAdmitted'
}

/** What the lists are stored through. */
export interface OutlierParts extends ListTransactionParts {
  readonly collections: Pick<Collections, 'posts' | 'overflow' | 'hot_keys' | 'hot_writes'>
  readonly transactions: Transactions
  readonly admission: Admission
  /** For the by-user entries of adds that were admitted and not committed. */
  readonly unsure: UnsureEntries
  /** The database's clock, in milliseconds since 1970. */
  readonly now: () => number
}

/**
 * The outlier pattern (seeds 0 and 2), the same for every kind: entries stand in their post up to a threshold, then in
 * overflow documents of a fixed capacity, level after level. No document grows with popularity.
 * @see laws L2 and L5
 */
export class OutlierLists {
  private readonly writes: GroupCommit<QueuedWrite, ListResult>
  private readonly hotKeys: HotKeys<QueuedWrite, ListResult>
  private readonly fast: FastPath
  private readonly transaction: ListTransaction
  private readonly admissions: TurnAdmissions
  /** Until when transactions begin after their admission, by the monotonic clock. */
  private admitsFirstUntilMs = 0

  constructor(private readonly parts: OutlierParts) {
    const { collections, transactions, limits, now } = parts
    this.transaction = new ListTransaction(parts)
    this.admissions = new TurnAdmissions(parts.admission)
    this.fast = new FastPath(collections.posts, limits)
    this.hotKeys = new HotKeys<QueuedWrite, ListResult>(collections, transactions, {
      name: 'lists',
      isLate,
      now,
      admit: (batch) => this.admissions.refusalsOf(batch),
      onNotCommitted: (batch) => this.rememberEntries(batch),
      lock: (tx, _, batch) => this.lock(tx, batch),
      apply: (tx, _, batch) => this.transaction.commit(tx, batch),
      commit: (_, batch, refusals, onCollision) => this.commit(batch, refusals, onCollision),
      commitAlone: (_, write, onCollision) => this.commitAlone(write, onCollision),
      // Processes of other versions store and read the idempotency key as `once`.
      pack: ({ idempotencyKey: once, ...write }) => ({ ...write, once }),
      unpack: ({ once, ...write }) =>
        ({ ...write, idempotencyKey: once }) as unknown as QueuedWrite,
    })
    this.writes = new GroupCommit((batches) => this.commitTurn(batches), bounds)
  }

  /**
   * Adds an entry or takes one out, atomically wherever it stands; entry and count change together. An add is admitted
   * before it commits ({@link Admission}), with the adds to other posts.
   * While the list is within its post, an add shares one command with those to other posts, and a removal takes one.
   * Past the threshold, and when several writers of this process meet on a post, they share one transaction
   * ({@link ListTransaction}), which works while they are admitted. A refused write or a slow admission costs its batch
   * a second transaction. For 2 s after that, transactions begin after their admission.
   * Where processes collide on a post, the owner of the hot key admits and commits the writes of all. Bytes written do
   * not grow with popularity (law L5).
   * @throws {DomainError} NOT_FOUND if the add is not admitted, and without such a post; UNAVAILABLE when too many wait.
   */
  async write(
    post: PostRef,
    write: ListWrite,
    idempotencyKey?: IdempotencyKey,
  ): Promise<ListResult> {
    const deadline = deadlineOf(this.parts.now())
    return this.writes.submit(keyOf(post), { post, write, idempotencyKey, deadline })
  }

  /** Loads the result of the first write under the key, if there was one. One command. */
  async savedResult(idempotencyKey: IdempotencyKey): Promise<ListResult | undefined> {
    return (await this.parts.idempotency.savedResult<ListResult>(idempotencyKey))?.result
  }

  /**
   * Admits the adds to all posts together, but those that the owner of a hot post admits. Then adds to posts that have
   * room share a command, and the other writes are committed post by post.
   */
  private commitTurn(batches: readonly Batch<QueuedWrite>[]): Turn<ListResult> {
    const hot = new Set(batches.filter(({ key }) => this.hotKeys.isHot(key)))
    const cold = batches.filter((batch) => !hot.has(batch))
    const admitted = this.admissions.begin(cold.flatMap(({ ops }) => ops.filter(isAdd)))
    const quick = cold.flatMap(({ ops }) => (ops.length === 1 ? ops.filter(this.isQuick) : []))
    const added = admitted.then((refused) =>
      this.addTogether(quick.filter(({ write }) => !refused.get(write.add))),
    )
    const commit = async (batch: Batch<QueuedWrite>) => {
      const { key, ops } = batch
      if (hot.has(batch)) return this.hotKeys.commitBatch(key, ops.map(askForAdmission))
      const [first] = ops
      const done = first && quick.includes(first) ? await (await added).get(first) : undefined
      return done ? [done] : this.hotKeys.commitBatch(key, ops)
    }
    const isLong = sleep(admissionMsMax.turn, undefined, { ref: false })
    const answers = batches.map((batch) => batch.inContext(() => commit(batch)))
    return { answers, next: Promise.race([admitted, isLong]) }
  }

  /** Checks whether a write may go with those to other posts. */
  private readonly isQuick = ({ post, write, idempotencyKey }: QueuedWrite): boolean =>
    write.add !== undefined && !idempotencyKey && !write.jobs?.length && !this.fast.isSlow(post)

  /** Adds entries to the posts that have room for them, in one command. Undefined for those that take more. */
  private async addTogether(writes: readonly QueuedWrite[]) {
    const adds = writes.flatMap(({ post, write: { kind, add } }) =>
      add ? [{ post, kind, entry: add }] : [],
    )
    const answers = await this.fast.add(adds)
    return new Map<QueuedWrite, Answer<ListResult | undefined>>(
      writes.map((write, at) => [write, answers[at]]),
    )
  }

  private async commit(
    batch: readonly QueuedWrite[],
    refusals: Promise<Refusals>,
    onCollision: (error: unknown) => void,
  ): Promise<Answers<ListResult>> {
    const [first, ...others] = batch
    if (!first) return []
    if (others.length === 0) {
      const [refusal] = await refusals
      if (refusal) return [refusal]
      const isPlain = !first.idempotencyKey && !first.write.jobs?.length
      const quick = isPlain ? await this.commitOne(first) : undefined
      if (quick) return [quick]
    }
    const lock = (tx: Tx) => this.lock(tx, batch)
    const run = <T>(work: (tx: Tx) => Promise<T>) =>
      this.parts.transactions.run(lockedAgain(lock, work), undefined, onCollision)
    if (others.length > 0 && performance.now() >= this.admitsFirstUntilMs) {
      try {
        return await run((tx) => this.commitIfAdmitted(tx, batch, refusals))
      } catch (error) {
        if (!(error instanceof NotAdmitted)) throw error
        this.admitsFirstUntilMs = performance.now() + admitsFirstMs
      }
    }
    const reasons = refusals.then((known) =>
      batch.map((op, at) => known[at] ?? (isLate(op, this.parts.now()) ? tooLate() : undefined)),
    )
    return commitAdmitted(batch, reasons, (some) => run((tx) => this.transaction.commit(tx, some)))
  }

  /**
   * Stores writes while they are still being admitted. The by-user entries have a majority before the commit.
   * @throws {NotAdmitted} if one is refused, or the admission takes long. The transaction must not commit then.
   */
  private async commitIfAdmitted(
    tx: Tx,
    batch: readonly QueuedWrite[],
    refusals: Promise<Refusals>,
  ): Promise<readonly (ListResult | Error)[]> {
    const answers = await this.transaction.commit(tx, batch)
    const isLong = sleep(admissionMsMax.transaction, undefined, { ref: false })
    // An admission that fails is no failure of this transaction.
    const known = await Promise.race([refusals.catch(() => undefined), isLong])
    if (!known || known.some(Boolean)) throw new NotAdmitted('Not all writes are admitted')
    return answers
  }

  /** Commits a write beside overflow documents that its post does not count. */
  private async commitAlone(
    write: QueuedWrite,
    onCollision: (error: unknown) => void,
  ): Promise<ListResult | Error> {
    const alone = (tx: Tx) => this.transaction.commit(tx, [write], true)
    const locked = lockedAgain((tx) => this.lock(tx, [write]), alone)
    const [result] = await this.parts.transactions.run(locked, undefined, onCollision)
    return result as ListResult | Error
  }

  private async lock(tx: Tx, [first]: readonly QueuedWrite[]): Promise<void> {
    if (first) await this.transaction.lock(tx, first.post)
  }

  /** The process that asked may have removed these entries before they were written here. */
  private rememberEntries(batch: readonly QueuedWrite[]): void {
    for (const { post, write } of batch) {
      const { add, kind } = write
      if (!add) continue
      const id = fromObjectId<EngagementId>(add._id)
      this.parts.unsure.add({ id, user: add.actor as UserId, kind, post })
    }
  }

  /** Commits a write to a list within its post with one update. Undefined: it takes more. */
  private async commitOne({ post, write }: QueuedWrite): Promise<ListResult | undefined> {
    if (!write.add) return this.removeEmbedded(post, write)
    if (!this.fast.isSlow(post)) return undefined
    return this.fast.addAlone({ post, kind: write.kind, entry: write.add })
  }

  private async removeEmbedded(
    { author, id }: PostRef,
    { kind, remove, only }: ListWrite & { readonly remove: string },
  ): Promise<ListResult | undefined> {
    const key = { [kinds[kind].key]: storedKey(kind, remove) }
    const named = only ? { ...key, _id: only } : key
    const before = await this.parts.collections.posts.findOneAndUpdate(
      { _id: toObjectId(id), author, [kind]: { $elemMatch: named } },
      { $pull: { [kind]: named }, $inc: { [`counts.${kind}`]: -1 } },
      { ...requestTimeout, projection: { [kind]: { $elemMatch: named } } },
    )
    return before ? { changed: true, entry: before[kind]?.[0] } : undefined
  }
}

const keyOf = ({ author, id }: PostRef) => `${author}/${id}`

const isAdd = ({ write }: QueuedWrite): boolean => write.add !== undefined

const askForAdmission = (one: QueuedWrite): QueuedWrite =>
  one.write.add ? { ...one, write: { ...one.write, needsAdmission: true } } : one
