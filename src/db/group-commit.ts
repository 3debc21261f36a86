import { AsyncResource } from 'node:async_hooks'
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import { DomainError } from '../errors.ts'
import { groupMetrics } from '../metrics/group-commits.ts'
import { isDatabaseAway, noAnswer } from './errors.ts'

/** The name and the limits of a group commit. */
export interface GroupCommitBounds {
  /** The label of its metrics. */
  readonly name: string
  /** Number of writes in one batch. A turn of several keys begins no batch beyond this number. */
  readonly batchMax: number
  /** Number of writes that wait, of all keys together. */
  readonly waitingMax: number
  /** How long a write may wait until its batch begins, in milliseconds. */
  readonly waitMsMax: number
  /**
   * How long writes wait at most after a batch of several, until as many wait as were under way, in
   * milliseconds. After a turn that others wait for, no longer than the turn took.
   */
  readonly lingerMs: number
}

/**
 * The result of one write: a value, an error of this write alone, or a promise that the next batch
 * does not wait for.
 */
export type Answer<Result> = Result | Error | Promise<Result>

/** One answer for each write of a batch, in order. */
export type Answers<Result> = readonly Answer<Result>[]

/** The writes of one key that are committed together. */
export interface Batch<Op> {
  readonly key: string
  readonly ops: readonly Op[]
  /** Runs a function in the context of the first of these writes, for example of its request. */
  readonly inContext: InContext
}

type InContext = <T>(work: () => T) => T

/** Batches of different keys whose commits have begun. */
export interface Turn<Result> {
  /** For each batch, in order. If it rejects, all writes of that batch fail. */
  readonly answers: readonly Promise<Answers<Result>>[]
  /** When the next turn may begin. It never rejects. Absent: now. */
  readonly next?: Promise<unknown>
}

interface Waiting<Op, Result> {
  readonly op: Op
  readonly since: number
  readonly resolve: (result: Result | Promise<Result>) => void
  readonly reject: (error: unknown) => void
  /** The context of the caller, for example of its request. */
  readonly caller: AsyncResource
}

/** The commits of a turn, when those of one key know nothing of the others. */
export const eachKey =
  <Op, Result>(commitBatch: (key: string, ops: readonly Op[]) => Promise<Answers<Result>>) =>
  (batches: readonly Batch<Op>[]): Turn<Result> => ({
    answers: batches.map(({ key, ops, inContext }) => inContext(() => commitBatch(key, ops))),
  })

/**
 * Combines writes that would collide or could share a command. The writes of one turn of the event
 * loop begin together, those of all idle keys, one turn after the other. Writes that arrive during
 * a commit of their key share the next commit, in order of arrival. Each caller gets its own
 * result. A commit runs in the context of its first write: it counts for that request, and belongs
 * to its trace. What a turn does for all its keys, it does in the context of the first of them.
 * @see DeWitt et al., Implementation Techniques for Main Memory Database Systems (1984): group
 *   commit
 */
export class GroupCommit<Op, Result> {
  /** The writes that wait. A key is here from its first write to the end of its last commit. */
  private readonly queues = new Map<string, Waiting<Op, Result>[]>()
  /** The keys whose writes wait for the next turn. */
  private readonly ready = new Set<string>()
  private takesTurns = false
  private waiting = 0
  /** How many writes the next turn waits for, and what begins it. Undefined: it waits for none. */
  private gathering: { readonly wanted: number; readonly end: () => void } | undefined
  /** Why the last commit failed. Undefined if it succeeded. */
  private failure: unknown
  private readonly metrics: ReturnType<typeof groupMetrics>

  /** @param commit begins the commits of batches of different keys. */
  constructor(
    private readonly commit: (batches: readonly Batch<Op>[]) => Turn<Result>,
    private readonly bounds: GroupCommitBounds,
  ) {
    this.metrics = groupMetrics(bounds.name)
  }

  /**
   * Commits `op`, with concurrent writes of the same key.
   * @throws {DomainError} UNAVAILABLE if too many writes wait or this one waited too long. Nothing
   *   was written then. Its cause is that of the last commit, if it failed.
   */
  async submit(key: string, op: Op): Promise<Result> {
    if (this.waiting >= this.bounds.waitingMax) {
      this.metrics.refused.inc()
      throw overloaded(this.failure)
    }
    this.waiting++
    this.metrics.waiting.inc()
    return new Promise((resolve, reject) => {
      // Costs less than AsyncLocalStorage.snapshot, which defines properties on a function of its
      // own.
      const caller = new AsyncResource('GroupCommit')
      const write = { op, since: performance.now(), resolve, reject, caller }
      const queue = this.queues.get(key)
      if (queue) {
        queue.push(write)
      } else {
        this.queues.set(key, [write])
        this.begin(key)
      }
      if (this.gathering && this.waiting >= this.gathering.wanted) this.gathering.end()
    })
  }

  private begin(key: string): void {
    this.ready.add(key)
    if (this.takesTurns) return
    this.takesTurns = true
    setImmediate(() => void this.takeTurns())
  }

  private async takeTurns(): Promise<void> {
    while (this.ready.size > 0) {
      const keys: string[] = []
      let room = this.bounds.batchMax
      for (const key of this.ready) {
        if (room <= 0) break
        keys.push(key)
        room -= this.queues.get(key)?.length ?? 0
      }
      for (const key of keys) this.ready.delete(key)
      const [waited, begunMs] = [this.waiting, performance.now()]
      const next = this.commitKeys(keys)
      if (!next) continue
      const taken = waited - this.waiting
      await next
      if (taken > 1) await this.gather(taken + this.waiting, performance.now() - begunMs)
    }
    this.takesTurns = false
  }

  /**
   * Waits for the clients that a turn has answered: they often write again at once. Then all share
   * the next turn, instead of one half that waits for the other.
   */
  private async gather(underWay: number, turnMs: number): Promise<void> {
    const wanted = Math.min(underWay, this.bounds.batchMax)
    const ms = Math.min(turnMs, this.bounds.lingerMs)
    if (this.waiting >= wanted || ms <= 0) return
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms)
      const end = () => {
        clearTimeout(timer)
        resolve()
      }
      this.gathering = { wanted, end }
    })
    this.gathering = undefined
  }

  /** @returns when the next turn may begin. Undefined: now, because each key goes on by itself. */
  private commitKeys(keys: readonly string[]): Promise<unknown> | undefined {
    const batches = keys.map((key) => ({ key, writes: this.takeBatch(key) }))
    const begun = batches.filter(({ writes }) => writes.length > 0)
    for (const { key, writes } of batches) if (writes.length === 0) this.goOn(key)
    const taken = begun.map(({ key, writes }) => {
      const { caller } = writes[0] as Waiting<Op, Result>
      const inContext: InContext = (work) => caller.runInAsyncScope(work)
      return { key, ops: writes.map(({ op }) => op), inContext }
    })
    const [first] = taken
    if (!first) return undefined
    const { answers, next } = first.inContext(() => this.commit(taken))
    for (const [at, { key, writes }] of begun.entries()) {
      const answered = this.answer(writes, answers[at] as Promise<Answers<Result>>)
      void answered.then(async () => {
        if (!next) await this.linger(key, writes.length)
        this.goOn(key)
      })
    }
    return next
  }

  /** Takes the next writes of a key out of its queue, and refuses those that waited too long. */
  private takeBatch(key: string): Waiting<Op, Result>[] {
    const now = performance.now()
    const taken = this.queues.get(key)?.splice(0, this.bounds.batchMax) ?? []
    this.waiting -= taken.length
    this.metrics.waiting.dec(taken.length)
    const inTime = taken.filter(({ since, reject }) => {
      const waitedMs = now - since
      this.metrics.waitSeconds.observe(waitedMs / 1000)
      if (waitedMs <= this.bounds.waitMsMax) return true
      this.metrics.refused.inc()
      reject(overloaded(this.failure))
      return false
    })
    if (inTime.length > 0) this.metrics.sizes.observe(inTime.length)
    return inTime
  }

  private async answer(
    writes: readonly Waiting<Op, Result>[],
    answers: Promise<Answers<Result>>,
  ): Promise<void> {
    try {
      const results = await answers
      this.failure = undefined
      writes.forEach(({ resolve, reject }, at) => {
        const result = results[at]
        if (result instanceof Error) reject(result)
        else resolve(result as Result | Promise<Result>)
      })
    } catch (error) {
      this.failure = error
      for (const { reject } of writes) reject(error)
    }
  }

  /** As {@link gather}, for a key whose commits no others wait for. */
  private async linger(key: string, answered: number): Promise<void> {
    if (answered < 2 || this.bounds.lingerMs <= 0) return
    await nextTurn()
    const waiting = this.queues.get(key)?.length ?? 0
    if (waiting < answered) await sleep(this.bounds.lingerMs)
  }

  /** Commits the writes that have come during a commit of their key. */
  private goOn(key: string): void {
    if (this.queues.get(key)?.length) this.begin(key)
    else this.queues.delete(key)
  }
}

/** The error of a write that waited too long, or arrived when too many writes waited. */
const overloaded = (cause?: unknown): DomainError =>
  isDatabaseAway(cause)
    ? noAnswer(cause, 'Nothing was changed.')
    : new DomainError(
        'UNAVAILABLE',
        'The post or user is receiving too many writes. Nothing was changed. Try again later.',
        { cause },
      )
