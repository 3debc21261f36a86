import { setTimeout as sleep } from 'node:timers/promises'
import { DomainError } from '../errors.ts'

/** The limits of a group commit. */
export interface GroupCommitBounds {
  /** Number of writes in one batch. */
  readonly batchMax: number
  /** Number of writes that wait, of all keys together. */
  readonly waitingMax: number
  /** How long a write may wait until its batch begins, in milliseconds. */
  readonly waitMsMax: number
  /** How long a key waits for more writes after a batch of several, in milliseconds. */
  readonly lingerMs: number
  /**
   * When the first write of an idle key is committed. AT_ONCE: now, for writes that cost less alone than in a batch.
   * AFTER_TURN: with the other writes of the same turn of the event loop, for writes that share a command.
   */
  readonly begins: 'AT_ONCE' | 'AFTER_TURN'
}

/**
 * The result of one write: a value, an error of this write alone, or a promise that the next batch does not wait for.
 */
export type Answer<Result> = Result | Error | Promise<Result>

interface Waiting<Op, Result> {
  readonly op: Op
  readonly since: number
  readonly resolve: (result: Result | Promise<Result>) => void
  readonly reject: (error: unknown) => void
}

/**
 * Combines writes that would collide or could share a command. Writes that arrive during a commit of their key share
 * the next commit, in order of arrival. Each caller gets its own result.
 * @see DeWitt et al., Implementation Techniques for Main Memory Database Systems (1984): group commit
 */
export class GroupCommit<Op, Result> {
  private readonly queues = new Map<string, Waiting<Op, Result>[]>()
  private waiting = 0

  /**
   * @param commitBatch commits a batch and returns the result of each write, in order. If it throws, all writes fail.
   */
  constructor(
    private readonly commitBatch: (
      key: string,
      ops: readonly Op[],
    ) => Promise<readonly Answer<Result>[]>,
    private readonly bounds: GroupCommitBounds,
  ) {}

  /**
   * Commits `op`, with concurrent writes of the same key.
   * @throws {DomainError} UNAVAILABLE if too many writes wait or this one waited too long. Nothing was written then.
   */
  async submit(key: string, op: Op): Promise<Result> {
    if (this.waiting >= this.bounds.waitingMax) throw overloaded()
    this.waiting++
    return new Promise((resolve, reject) => {
      const write = { op, since: performance.now(), resolve, reject }
      const queue = this.queues.get(key)
      if (queue) {
        queue.push(write)
      } else {
        const first = [write]
        this.queues.set(key, first)
        if (this.bounds.begins === 'AT_ONCE') void this.drain(key, first)
        else setImmediate(() => void this.drain(key, first))
      }
    })
  }

  private async drain(key: string, queue: Waiting<Op, Result>[]): Promise<void> {
    while (queue.length > 0) {
      const batch = queue.splice(0, this.bounds.batchMax)
      this.waiting -= batch.length
      await this.commit(key, batch)
      // The clients that were just answered often write again at once, and then share the next commit.
      if (batch.length > 1 && this.bounds.lingerMs > 0) await sleep(this.bounds.lingerMs)
    }
    this.queues.delete(key)
  }

  private async commit(key: string, batch: readonly Waiting<Op, Result>[]): Promise<void> {
    const oldest = performance.now() - this.bounds.waitMsMax
    const inTime = batch.filter(({ since }) => since >= oldest)
    for (const { since, reject } of batch) if (since < oldest) reject(overloaded())
    if (inTime.length === 0) return
    try {
      const results = await this.commitBatch(
        key,
        inTime.map(({ op }) => op),
      )
      inTime.forEach(({ resolve, reject }, at) => {
        const result = results[at]
        if (result instanceof Error) reject(result)
        else resolve(result as Result | Promise<Result>)
      })
    } catch (error) {
      for (const { reject } of inTime) reject(error)
    }
  }
}

/** The error of a write that waited too long, or arrived when too many writes waited. */
export const overloaded = (): DomainError =>
  new DomainError(
    'UNAVAILABLE',
    'The post or user is receiving too many writes. Nothing was changed. Try again later.',
  )
