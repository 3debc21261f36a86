import { setTimeout as sleep } from 'node:timers/promises'
import { DomainError } from '../errors.ts'

/** How much may wait, and for how long. */
export interface GroupCommitBounds {
  /** Writes that go together at most. */
  readonly batchMax: number
  /** Writes that wait at most, all lanes together: what bounds the memory. */
  readonly waitingMax: number
  /** How long a write may wait before its batch begins, in milliseconds. */
  readonly waitMsMax: number
  /** How long a lane on which several writes met waits for more of them, in milliseconds. */
  readonly lingerMs: number
}

/** What a write is answered: a result, an error that fails it alone, or a promise for which its lane does not wait. */
export type Answer<Result> = Result | Error | Promise<Result>

interface Waiting<Op, Result> {
  readonly op: Op
  readonly since: number
  readonly resolve: (result: Result | Promise<Result>) => void
  readonly reject: (error: unknown) => void
}

/**
 * Combines writes that collide, or could share a command: what arrives for a lane while a commit of that lane is under
 * way goes together into the next one, in order of arrival, and each caller gets its own answer. A write that finds its
 * lane idle goes at once.
 * @see DeWitt et al., Implementation Techniques for Main Memory Database Systems (1984): group commit
 */
export class GroupCommit<Op, Result> {
  private readonly lanes = new Map<string, Waiting<Op, Result>[]>()
  private waiting = 0

  /**
   * @param run commits a batch and answers each write, in order; a throw fails them all.
   */
  constructor(
    private readonly run: (lane: string, ops: readonly Op[]) => Promise<readonly Answer<Result>[]>,
    private readonly bounds: GroupCommitBounds,
  ) {}

  /**
   * Commits `op` with its neighbours.
   * @throws {DomainError} UNAVAILABLE when too many wait, or it waited too long; nothing was written then.
   */
  async submit(lane: string, op: Op): Promise<Result> {
    if (this.waiting >= this.bounds.waitingMax) throw overloaded()
    this.waiting++
    return new Promise((resolve, reject) => {
      const write = { op, since: performance.now(), resolve, reject }
      const queue = this.lanes.get(lane)
      if (queue) {
        queue.push(write)
      } else {
        const first = [write]
        this.lanes.set(lane, first)
        void this.drain(lane, first)
      }
    })
  }

  private async drain(lane: string, queue: Waiting<Op, Result>[]): Promise<void> {
    while (queue.length > 0) {
      const batch = queue.splice(0, this.bounds.batchMax)
      this.waiting -= batch.length
      await this.commit(lane, batch)
      // Those who were just answered are about to come again, and share the next commit if it waits for them.
      if (batch.length > 1 && this.bounds.lingerMs > 0) await sleep(this.bounds.lingerMs)
    }
    this.lanes.delete(lane)
  }

  private async commit(lane: string, batch: readonly Waiting<Op, Result>[]): Promise<void> {
    const oldest = performance.now() - this.bounds.waitMsMax
    const timely = batch.filter(({ since }) => since >= oldest)
    for (const { since, reject } of batch) if (since < oldest) reject(overloaded())
    if (timely.length === 0) return
    try {
      const results = await this.run(
        lane,
        timely.map(({ op }) => op),
      )
      timely.forEach(({ resolve, reject }, at) => {
        const result = results[at]
        if (result instanceof Error) reject(result)
        else resolve(result as Result | Promise<Result>)
      })
    } catch (error) {
      for (const { reject } of timely) reject(error)
    }
  }
}

/** The answer to a write that waited too long, or came when too many waited. */
export const overloaded = (): DomainError =>
  new DomainError(
    'UNAVAILABLE',
    'The post or user is receiving too many writes. Nothing was changed. Try again later.',
  )
