import { randomUUID } from 'node:crypto'
import { commitAdmitted, type Refusals } from './admitted.ts'
import { requestTimeout } from './client.ts'
import type { Collections } from './collections.ts'
import { Contended, Poisoned, watchCollisions } from './collisions.ts'
import { isDuplicateKey } from './errors.ts'
import { HotWrites, type Packed, unpackAnswer } from './hot-writes.ts'
import { type Answers, KeyOwner } from './key-owner.ts'
import type { Transactions, Tx } from './transaction.ts'

/** How the writes of one sort are committed. */
export interface HotKeyRules<Op, Result> {
  /** Sets the keys of this sort apart from those of others, e.g. `likes`. */
  readonly name: string
  /** Checks writes before their transaction. A write may be checked again after a failed try. Absent: no check. */
  readonly admit?: (ops: readonly Op[]) => Promise<Refusals>
  /** Applies writes to a key in the caller's transaction, in order, and answers each. */
  readonly apply: (tx: Tx, key: string, ops: readonly Op[]) => Promise<Answers<Result>>
  /** Commits writes while no other process collides with them. Passes `onCollision` to its transaction. */
  readonly commit: (
    key: string,
    ops: readonly Op[],
    onCollision: (error: unknown) => void,
  ) => Promise<Answers<Result>>
  /** Commits one write, also where a stored leftover refuses the usual way. Passes `onCollision` to its transaction. */
  readonly commitAlone: (
    key: string,
    op: Op,
    onCollision: (error: unknown) => void,
  ) => Promise<Result | Error>
  readonly pack: (op: Op) => Packed
  readonly unpack: (packed: Packed) => Op
}

/** How many write conflicts of one batch make its key hot, and how long it stays so, in milliseconds. */
const conflictsMax = 1
const hotMs = 3_000
/** How many keys a process remembers at most. */
const keysMax = 10_000
/** The lease of an owner, and how long a request waits before its process offers to be the owner, in milliseconds. */
const leaseMs = 2_000
const patienceMs = 100

/** If this number of writes are all locked, their key is. */
const lockedMax = 2

interface HotKey<Op, Result> {
  until: number
  /** This process, when it is the owner. */
  owner?: KeyOwner<Op, Result> | undefined
  /** Until when another process is taken to be the owner. */
  ownedElsewhereUntil: number
}

/**
 * Keeps processes that write to the same key from repeating each other's transactions. A batch commits in a
 * transaction of its own until it meets another; from then on one process, the owner, commits the writes of all
 * processes to that key together, and answers each in the same transaction. Ownership is a lease and decides efficiency
 * alone: what two owners at once would do, the transactions keep right. A key that meets no one cools within a second.
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
   * Commits `ops` to `key` in order and answers each. Where a stored leftover or a lock holds up a batch, its writes are
   * committed one by one, and the others do not wait for that one.
   * @throws {DomainError} UNAVAILABLE after about five seconds of collisions.
   */
  async run(key: string, ops: readonly Op[]): Promise<Answers<Result>> {
    try {
      if (!this.isHot(key)) {
        try {
          return await this.commit(key, ops, watchCollisions(conflictsMax))
        } catch (error) {
          if (!(error instanceof Contended)) throw error
          this.heat(key)
        }
      }
      return await this.together(key, ops)
    } catch (error) {
      if (!(error instanceof Poisoned || error instanceof Contended)) throw error
      return this.eachAlone(key, ops)
    }
  }

  /** Whether writes to `key` go through its owner now. */
  isHot(key: string): boolean {
    const known = this.hot.get(key)
    if (!known) return false
    if (known.owner || known.until > performance.now()) return true
    this.hot.delete(key)
    return false
  }

  private async together(key: string, ops: readonly Op[]): Promise<Answers<Result>> {
    const known = this.heat(key)
    const owner = known.owner ?? (await this.tryToOwn(key, known))
    if (owner) return owner.submit(ops)
    const answers = await this.writes.ask(
      this.nameOf(key),
      ops.map((op) => this.rules.pack(op)),
      async (waitedMs) => {
        if (waitedMs > patienceMs && !known.owner) await this.tryToOwn(key, known)
      },
    )
    known.ownedElsewhereUntil = performance.now() + patienceMs
    return answers.map((answer) => unpackAnswer<Result>(answer))
  }

  /**
   * Commits each write in a transaction of its own. One that meets a lock is answered later, by itself; where the first
   * ones all do, the key itself is locked, and the rest waits together.
   */
  private async eachAlone(key: string, ops: readonly Op[]): Promise<Answers<Result>> {
    const answers: (Result | Error | Promise<Result>)[] = []
    let locked = 0
    for (const [at, op] of ops.entries()) {
      if (at === lockedMax && locked === lockedMax) {
        const rest = ops.slice(at)
        const later = this.commit(key, rest, watchCollisions())
        return [...answers, ...rest.map((_, n) => later.then((all) => resultOf(all[n] as Result)))]
      }
      try {
        answers.push(await this.commitAlone(key, op, watchCollisions(conflictsMax)))
      } catch (error) {
        if (error instanceof Contended) locked++
        answers.push(
          error instanceof Contended
            ? this.commitAlone(key, op, watchCollisions()).then(resultOf<Result>)
            : (error as Error),
        )
      }
    }
    return answers
  }

  private async commit(
    key: string,
    ops: readonly Op[],
    onCollision: (error: unknown) => void,
  ): Promise<Answers<Result>> {
    const { admit, commit } = this.rules
    return commitAdmitted(ops, await admit?.(ops), (some) => commit(key, some, onCollision))
  }

  private async commitAlone(
    key: string,
    op: Op,
    onCollision: (error: unknown) => void,
  ): Promise<Result | Error> {
    const [refusal] = (await this.rules.admit?.([op])) ?? []
    return refusal ?? this.rules.commitAlone(key, op, onCollision)
  }

  private heat(key: string): HotKey<Op, Result> {
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
    // So that the requests of one process do not all ask.
    known.ownedElsewhereUntil = performance.now() + patienceMs
    if (!(await this.lease(key))) return undefined
    const owner = new KeyOwner<Op, Result>({
      key: this.nameOf(key),
      transactions: this.transactions,
      writes: this.writes,
      admit: this.rules.admit,
      apply: (tx, ops) => this.rules.apply(tx, key, ops),
      unpack: this.rules.unpack,
      renew: () => this.lease(key),
      onEnd: () => {
        known.owner = undefined
        known.until = 0
        void this.release(key)
      },
    })
    known.owner = owner
    void owner.serve()
    return owner
  }

  /** Makes this process the owner of a key, or lets it stay so, unless the lease of another runs. One command. */
  private async lease(key: string): Promise<boolean> {
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

  private async release(key: string): Promise<void> {
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
