import { setTimeout as sleep } from 'node:timers/promises'
import { DomainError } from '../errors.ts'
import { chunks } from '../lib/batch.ts'
import { Contended, Poisoned, watchCollisions } from './collisions.ts'
import { deadlineOf, isLate, type Timed, tooLate } from './deadline.ts'
import { isWriteConflict } from './errors.ts'
import {
  type Answer,
  type Answers,
  type Batch,
  GroupCommit,
  type GroupCommitBounds,
  type Turn,
} from './group-commit.ts'
import { type Transactions, TryAgain, type Tx } from './transaction.ts'

/** The transaction of writes of one sort, and how many share it. */
export interface SharedTransaction<Op, Result> {
  readonly bounds: GroupCommitBounds
  /**
   * Number of keys whose writes share a transaction, as long as no other process writes to them.
   */
  readonly keysMax: number
  /**
   * Asks what writes need to know from elsewhere, before their transaction holds a lock. Absent:
   * nothing. If it rejects, it refuses all of them.
   */
  readonly prepare?: (ops: readonly Op[]) => Promise<void>
  /**
   * Applies writes in order, each as if it were alone. @returns the answer of each.
   * @param repairs set for a single write of a batch that a lock or a stored unique value has
   *   stopped.
   * @throws an error that refuses all of them. Nothing is committed then.
   */
  readonly apply: (
    tx: Tx,
    ops: readonly Op[],
    repairs: boolean,
  ) => Promise<readonly (Result | Error)[]>
  /**
   * Changes what all writes of the key change. The transaction that changes it first has its turn.
   */
  readonly lock: (tx: Tx, key: string, ops: readonly Op[]) => Promise<unknown>
  /**
   * Changes what else these writes change, and what writes of other keys change too. Absent:
   * nothing.
   */
  readonly lockRest?: (tx: Tx, ops: readonly Op[]) => Promise<unknown>
  /** The database's clock, in milliseconds since 1970. */
  readonly now: () => number
}

interface Write<Op> extends Timed {
  readonly op: Op
}

/**
 * How long a transaction begins with the lock of its key after a collision, and of how many keys
 * that is remembered.
 */
const hotMs = 3_000
const hotMax = 10_000
/**
 * How long keys do not share transactions after one of several keys has collided, in milliseconds.
 */
export const apartMs = 100
/** How long a turn may keep the writes of other keys waiting, in milliseconds. */
const turnMsMax = 40
/** Number of conflicts of a batch that has its turn until each of its writes commits alone. */
const conflictsMax = 3

/**
 * Writes of several requests in one transaction. Those of one key, which would collide, always
 * share: those that arrive during a transaction share the next one. Those of several keys share
 * while no other process collides with them. Processes that write to one key take turns: after a
 * collision, each try begins with the lock of the key, so it loses nothing but that command while
 * another process has its turn.
 * @see docs/adr/8-owners-of-hot-keys.md
 */
export class SharedTransactions<Op, Result> {
  private readonly writes: GroupCommit<Write<Op>, Result>
  /** Until when each key is hot, by the monotonic clock. */
  private readonly hot = new Map<string, number>()
  private apartUntil = 0

  constructor(
    private readonly transactions: Transactions,
    private readonly shared: SharedTransaction<Op, Result>,
  ) {
    this.writes = new GroupCommit((batches) => this.commitTurn(batches), shared.bounds)
  }

  /**
   * Commits a write, with others. It begins no try after its deadline.
   * @throws {DomainError} the error of this write alone; UNAVAILABLE if too many writes wait, or
   *   after about five seconds of collisions. Nothing was written then.
   */
  async submit(key: string, op: Op): Promise<Result> {
    return this.writes.submit(key, { op, deadline: deadlineOf(this.shared.now()) })
  }

  private commitTurn(batches: readonly Batch<Write<Op>>[]): Turn<Result> {
    const prepared = this.shared.prepare?.(batches.flatMap(({ ops }) => ops.map(({ op }) => op)))
    const isApart = performance.now() < this.apartUntil
    const cold = isApart ? [] : batches.filter(({ key }) => !this.isHot(key))
    const groups = [...chunks(cold, this.shared.keysMax)].filter(({ length }) => length > 1)
    const together = new Map(
      groups.flatMap((group) => {
        const committed = Promise.resolve(prepared).then(() => this.commitTogether(group))
        return group.map((batch, at) => [batch, committed.then((all) => all?.[at])] as const)
      }),
    )
    const commit = async (batch: Batch<Write<Op>>) => {
      const answers = await together.get(batch)
      if (answers) return answers
      await prepared
      return this.commitKey(batch.key, batch.ops)
    }
    const answers = batches.map((batch) => batch.inContext(() => commit(batch)))
    const isLong = sleep(turnMsMax, undefined, { ref: false })
    return { answers, next: Promise.race([Promise.allSettled(answers), isLong]) }
  }

  /**
   * Commits the writes of several keys in one transaction, which is tried once, or twice if the
   * first try asks for it.
   * @returns the answers of each batch. Undefined if nothing was written: then each key commits
   *   alone, so that the lock, shard or damage of one key delays and fails no other.
   */
  private async commitTogether(
    batches: readonly Batch<Write<Op>>[],
  ): Promise<readonly (readonly (Result | Error)[])[] | undefined> {
    let mayBeCommitted = false
    const work = async (tx: Tx) => {
      mayBeCommitted = false
      const answers = await this.apply(
        tx,
        batches.flatMap(({ ops }) => ops),
      )
      mayBeCommitted = true
      return answers
    }
    try {
      const answers = await this.transactions.run(work, undefined, endFirstTry())
      let next = 0
      return batches.map(({ ops }) => ops.map(() => answers[next++] as Result | Error))
    } catch (error) {
      const hasCollided = error instanceof Contended
      if (hasCollided) this.apartUntil = performance.now() + apartMs
      // A commit without an answer may have changed something. After its time, the run may still be
      // under way.
      const isOver = error instanceof DomainError && error.code === 'UNAVAILABLE'
      if (!hasCollided && (mayBeCommitted || isOver)) throw error
      return undefined
    }
  }

  /**
   * If damaged data or a lock stops the batch, each write commits alone, and no write waits for the
   * stopped one.
   */
  private async commitKey(key: string, writes: readonly Write<Op>[]): Promise<Answers<Result>> {
    try {
      return await this.run(key, writes, {
        conflictsMax: writes.length > 1 ? conflictsMax : undefined,
      })
    } catch (error) {
      if (!(error instanceof Poisoned || error instanceof Contended)) throw error
      return this.commitEach(key, writes)
    }
  }

  /**
   * Commits each write in its own transaction, in order. A locked write gets a later answer of its
   * own.
   */
  private async commitEach(key: string, writes: readonly Write<Op>[]): Promise<Answers<Result>> {
    const answers: Answer<Result>[] = []
    for (const write of writes) {
      try {
        const [answer] = await this.run(key, [write], { conflictsMax: 1, repairs: true })
        answers.push(answer as Result | Error)
      } catch (error) {
        if (!(error instanceof Contended)) answers.push(error as Error)
        else {
          const later = this.run(key, [write], { repairs: true }).then(([answer]) => {
            if (answer instanceof Error) throw answer
            return answer as Result
          })
          // The batch is answered after its last write. This write may fail before.
          later.catch(() => {})
          answers.push(later)
        }
      }
    }
    return answers
  }

  /**
   * @param conflictsMax number of conflicts, apart from those while other processes have their
   *   turn, that end the run.
   */
  private async run(
    key: string,
    writes: readonly Write<Op>[],
    {
      conflictsMax = Number.POSITIVE_INFINITY,
      repairs = false,
    }: { readonly conflictsMax?: number | undefined; readonly repairs?: boolean },
  ): Promise<readonly (Result | Error)[]> {
    const { lock, lockRest } = this.shared
    const ops = writes.map(({ op }) => op)
    const watch = watchCollisions(conflictsMax)
    let [isFirst, hasTurn] = [true, false]
    const work = async (tx: Tx) => {
      const locks = !isFirst || this.isHot(key)
      hasTurn = false
      if (locks) await lock(tx, key, ops)
      hasTurn = locks
      if (!isFirst) await lockRest?.(tx, ops)
      return this.apply(tx, writes, repairs)
    }
    return this.transactions.run(work, undefined, (error) => {
      isFirst = false
      if (!isWriteConflict(error)) return watch(error)
      this.heat(key)
      if (hasTurn) watch(error)
    })
  }

  /** Applies those writes that are not too late. */
  private async apply(
    tx: Tx,
    writes: readonly Write<Op>[],
    repairs = false,
  ): Promise<readonly (Result | Error)[]> {
    const now = this.shared.now()
    const inTime = writes.filter((write) => !isLate(write, now))
    const ops = inTime.map(({ op }) => op)
    const answers = ops.length > 0 ? await this.shared.apply(tx, ops, repairs) : []
    const byWrite = new Map(inTime.map((write, at) => [write, answers[at] as Result | Error]))
    return writes.map((write) => byWrite.get(write) ?? tooLate())
  }

  private heat(key: string): void {
    this.hot.delete(key)
    this.hot.set(key, performance.now() + hotMs)
    const [oldest] = this.hot.keys()
    if (this.hot.size > hotMax && oldest !== undefined) this.hot.delete(oldest)
  }

  private isHot(key: string): boolean {
    const until = this.hot.get(key)
    if (until === undefined || until > performance.now()) return until !== undefined
    this.hot.delete(key)
    return false
  }
}

/**
 * Creates the `onCollision` of a transaction of several keys. It is called only if the try has
 * changed nothing.
 */
function endFirstTry(): (error: unknown) => void {
  let isFirst = true
  return (error) => {
    const goesOn = isFirst && error instanceof TryAgain
    isFirst = false
    if (goesOn) return
    throw new Contended('The writes of several keys were not committed together', { cause: error })
  }
}
