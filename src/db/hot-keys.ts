import { randomUUID } from 'node:crypto'
import { commitAdmitted, type Refusals } from './admitted.ts'
import { requestTimeout } from './client.ts'
import type { Collections } from './collections.ts'
import { Contended, Poisoned, watchCollisions } from './collisions.ts'
import { tooLate } from './deadline.ts'
import { isDuplicateKey } from './errors.ts'
import type { Answers } from './group-commit.ts'
import { HotWrites, type Packed, unpackAnswer } from './hot-writes.ts'
import { KeyOwner } from './key-owner.ts'
import type { Transactions, Tx } from './transaction.ts'

/** How writes of one kind are committed. */
export interface HotKeyRules<Op, Result> {
  /** The prefix of the stored names of keys, for example `lists`. Persisted. */
  readonly name: string
  /** Checks writes. A write may be checked again after a failed try. Absent: no check. */
  readonly admit?: (ops: readonly Op[]) => Promise<Refusals>
  /**
   * Called with writes of other processes that were checked here, and that a failed transaction of this process did not
   * commit. Another owner may have committed them, also before the check ended here.
   */
  readonly onNotCommitted?: (ops: readonly Op[]) => void
  /** Whether a write is too late to begin a try, at a time of {@link now}. Absent: no write has a deadline. */
  readonly isLate?: (op: Op, now: number) => boolean
  /** The database's clock, in milliseconds since 1970. */
  readonly now: () => number
  /** Changes what all writes of the key change, in a transaction that has collided. See {@link lockedAgain}. */
  readonly lock: (tx: Tx, key: string, ops: readonly Op[]) => Promise<unknown>
  /** Applies writes to a key in the caller's transaction, in order, and answers each. */
  readonly apply: (tx: Tx, key: string, ops: readonly Op[]) => Promise<Answers<Result>>
  /**
   * Commits writes while no other process collides with them. It stores no refused write, and answers it with its
   * refusal. The check may still be under way. Passes `onCollision` to its transaction.
   */
  readonly commit: (
    key: string,
    ops: readonly Op[],
    refusals: Promise<Refusals>,
    onCollision: (error: unknown) => void,
  ) => Promise<Answers<Result>>
  /** Commits one write, also if damaged data refuses it in a batch. Passes `onCollision` to its transaction. */
  readonly commitAlone: (
    key: string,
    op: Op,
    onCollision: (error: unknown) => void,
  ) => Promise<Result | Error>
  readonly pack: (op: Op) => Packed
  readonly unpack: (packed: Packed) => Op
}

/** Number of write conflicts of one batch that make its key hot, and how long it stays hot, in milliseconds. */
const conflictsMax = 1
const hotMs = 3_000
/** Number of hot keys that a process remembers. */
const keysMax = 10_000
/**
 * How long a lease lasts, and how long a request waits before its process tries to become the owner, in milliseconds.
 */
const leaseMs = 2_000
const ownerWaitMs = 100

/** Number of locked writes, at the start of a batch, that mean that the key itself is locked. */
const lockedMax = 2

/** What this process knows about a hot key. All times are in milliseconds of the monotonic clock. */
interface HotKey<Op, Result> {
  until: number
  /** Set while this process is the owner. */
  owner?: KeyOwner<Op, Result> | undefined
  /** Until then, this process assumes that another process is the owner. */
  ownedElsewhereUntil: number
}

/**
 * Avoids retries between processes that write to the same key. A batch commits in its own transaction until it
 * collides. Then one process, the owner, commits the writes of all processes to the key, and answers each in the same
 * transaction. Ownership is a lease. It affects speed only: with two owners, the transactions still keep the data
 * correct. An owner stops after a second without requests of other processes.
 * @see docs/adr/8-owners-of-hot-keys.md
 */
export class HotKeys<Op, Result> {
  private readonly hot = new Map<string, HotKey<Op, Result>>()
  private readonly writes: HotWrites
  private readonly process: string = randomUUID()

  constructor(
    private readonly collections: Pick<Collections, 'hot_keys' | 'hot_writes'>,
    private readonly transactions: Transactions,
    private readonly rules: HotKeyRules<Op, Result>,
  ) {
    this.writes = new HotWrites(collections.hot_writes)
  }

  /**
   * Commits writes to a key in order. @returns the answer of each, in order.
   * If damaged data or a lock stops the batch, each write commits alone, and no write waits for the stopped one.
   * @throws {DomainError} UNAVAILABLE after about five seconds of collisions.
   */
  async commitBatch(key: string, ops: readonly Op[]): Promise<Answers<Result>> {
    try {
      if (!this.isHot(key)) {
        try {
          return await this.commit(key, ops, watchCollisions(conflictsMax))
        } catch (error) {
          if (!(error instanceof Contended)) throw error
          this.markHot(key)
        }
        return await commitAdmitted(ops, this.refusalsOf(ops), (some) =>
          this.commitThroughOwner(key, some),
        )
      }
      return await this.commitThroughOwner(key, ops)
    } catch (error) {
      if (!(error instanceof Poisoned || error instanceof Contended)) throw error
      return this.commitEachAlone(key, ops)
    }
  }

  /** Whether writes to `key` go through an owner now. */
  isHot(key: string): boolean {
    const known = this.hot.get(key)
    if (!known) return false
    if (known.owner || known.until > performance.now()) return true
    this.hot.delete(key)
    return false
  }

  private async commitThroughOwner(key: string, ops: readonly Op[]): Promise<Answers<Result>> {
    const known = this.markHot(key)
    const owner = known.owner ?? (await this.tryToOwn(key, known))
    if (owner) return owner.submit(ops)
    const answers = await this.writes.requestCommit(
      this.nameOf(key),
      ops.map((op) => this.rules.pack(op)),
      async (waitedMs) => {
        if (waitedMs > ownerWaitMs && !known.owner) await this.tryToOwn(key, known)
      },
    )
    known.ownedElsewhereUntil = performance.now() + ownerWaitMs
    return answers.map((answer) => unpackAnswer<Result>(answer))
  }

  /**
   * Commits each write in its own transaction. A locked write gets a later answer of its own. If the first writes are
   * all locked, the key itself is locked, and the remaining writes wait together.
   */
  private async commitEachAlone(key: string, ops: readonly Op[]): Promise<Answers<Result>> {
    const answers: (Result | Error | Promise<Result>)[] = []
    const refusals = await this.refusalsOf(ops)
    let locked = 0
    for (const [at, op] of ops.entries()) {
      if (at === lockedMax && locked === lockedMax) {
        const rest = ops.slice(at)
        const later = this.commit(key, rest, watchCollisions())
        return [...answers, ...rest.map((_, n) => later.then((all) => resultOf(all[n] as Result)))]
      }
      const refusal = refusals[at] ?? this.lateAmong([op])[0]
      if (refusal) {
        answers.push(refusal)
        continue
      }
      try {
        answers.push(await this.rules.commitAlone(key, op, watchCollisions(conflictsMax)))
      } catch (error) {
        if (error instanceof Contended) {
          locked++
          const later = this.rules.commitAlone(key, op, watchCollisions()).then(resultOf<Result>)
          // The batch is answered after its last write. This write may fail before.
          later.catch(() => {})
          answers.push(later)
        } else answers.push(error as Error)
      }
    }
    return answers
  }

  private async commit(
    key: string,
    ops: readonly Op[],
    onCollision: (error: unknown) => void,
  ): Promise<Answers<Result>> {
    const refusals = this.refusalsOf(ops)
    // The commit may fail before it looks at them. What the check writes must not come after the next try.
    const isChecked = refusals.catch(() => {})
    try {
      return await this.rules.commit(key, ops, refusals, onCollision)
    } catch (error) {
      await isChecked
      throw error
    }
  }

  /** Why each write must not be committed, in order: it is too late, or is not admitted. */
  private async refusalsOf(ops: readonly Op[]): Promise<Refusals> {
    const late = this.lateAmong(ops)
    const inTime = ops.filter((_, at) => !late[at])
    const refused = (await this.rules.admit?.(inTime)) ?? []
    let next = 0
    return late.map((error) => error ?? refused[next++])
  }

  private lateAmong(ops: readonly Op[]): Refusals {
    const now = this.rules.now()
    return ops.map((op) => (this.rules.isLate?.(op, now) ? tooLate() : undefined))
  }

  private markHot(key: string): HotKey<Op, Result> {
    const known = this.hot.get(key) ?? { until: 0, ownedElsewhereUntil: 0 }
    known.until = performance.now() + hotMs
    this.hot.delete(key)
    this.hot.set(key, known)
    const [oldest] = this.hot.keys()
    if (this.hot.size > keysMax && oldest !== undefined) this.hot.delete(oldest)
    return known
  }

  /** Takes the lease of a key that no process owns. At most one command. */
  private async tryToOwn(
    key: string,
    known: HotKey<Op, Result>,
  ): Promise<KeyOwner<Op, Result> | undefined> {
    if (performance.now() < known.ownedElsewhereUntil) return undefined
    // Other requests of this process do not try in this time.
    known.ownedElsewhereUntil = performance.now() + ownerWaitMs
    if (!(await this.takeLease(key))) return undefined
    const owner = new KeyOwner<Op, Result>({
      key: this.nameOf(key),
      transactions: this.transactions,
      writes: this.writes,
      admit: (ops) => this.refusalsOf(ops),
      onNotCommitted: (ops) => this.rules.onNotCommitted?.(ops),
      lock: (tx, ops) => this.rules.lock(tx, key, ops),
      apply: (tx, ops) =>
        commitAdmitted(ops, this.lateAmong(ops), (some) => this.rules.apply(tx, key, some)),
      unpack: this.rules.unpack,
      renew: () => this.takeLease(key),
      onEnd: () => {
        known.owner = undefined
        known.until = 0
        void this.releaseLease(key)
      },
    })
    known.owner = owner
    void owner.serve()
    return owner
  }

  /** Takes or renews the lease of a key, unless another process holds it. One command. */
  private async takeLease(key: string): Promise<boolean> {
    const isFree = {
      $or: [{ $eq: ['$owner', this.process] }, { $lt: [{ $ifNull: ['$until', null] }, '$$NOW'] }],
    }
    const ours = { owner: this.process, until: { $add: ['$$NOW', leaseMs] } }
    try {
      const found = await this.collections.hot_keys.findOneAndUpdate(
        { _id: this.nameOf(key) },
        [{ $replaceWith: { $cond: [isFree, { $mergeObjects: ['$$ROOT', ours] }, '$$ROOT'] } }],
        { ...requestTimeout, upsert: true, returnDocument: 'after', writeConcern: { w: 1 } },
      )
      return found?.owner === this.process
    } catch (error) {
      // Another process created the document at the same moment.
      if (isDuplicateKey(error)) return false
      throw error
    }
  }

  private async releaseLease(key: string): Promise<void> {
    const mine = { _id: this.nameOf(key), owner: this.process }
    await this.collections.hot_keys.deleteOne(mine, requestTimeout).catch(() => {})
  }

  private readonly nameOf = (key: string) => `${this.rules.name}/${key}`
}

/** @throws an answer that is an error. */
function resultOf<Result>(answer: Result | Error | Promise<Result>): Result | Promise<Result> {
  if (answer instanceof Error) throw answer
  return answer
}
