import { setTimeout as sleep } from 'node:timers/promises'
import { commitAdmitted, type Refusals } from './admitted.ts'
import type { HotWriteDoc } from './collections.ts'
import { Contended, lockedAgain, Poisoned, watchCollisions } from './collisions.ts'
import type { Answers } from './group-commit.ts'
import { type HotWrites, type Packed, packAnswer, Withdrawn } from './hot-writes.ts'
import type { Transactions, Tx } from './transaction.ts'

/** The parts that {@link KeyOwner} works with. */
export interface OwnerParts<Op, Result> {
  readonly key: string
  readonly transactions: Transactions
  readonly writes: HotWrites
  readonly admit: (ops: readonly Op[]) => Promise<Refusals>
  /** Called with admitted writes of other processes that were not committed. */
  readonly onNotCommitted: (ops: readonly Op[]) => void
  /** Called first in each try after the first one. */
  readonly lock: (tx: Tx, ops: readonly Op[]) => Promise<unknown>
  /** A write may be refused in any try. */
  readonly apply: (tx: Tx, ops: readonly Op[]) => Promise<Answers<Result>>
  readonly unpack: (packed: Packed) => Op
  /** Renews the lease. @returns false if another process has it. */
  readonly renew: () => Promise<boolean>
  /** Called once, when the owner stops taking writes. */
  readonly onEnd: () => void
}

/** Number of writes in one transaction, and of requests that are read for it. */
const opsMax = 256
const requestsMax = 32
/**
 * How long an owner waits for requests of other processes, and for its own writes, before it stops, in milliseconds.
 */
const idleMsMax = { others: 1_000, own: 1_000 }
const renewMs = 500
/** How long it waits between two transactions, in milliseconds. Clients that were just answered often write again. */
const lingerMs = 1
/** How often an idle owner polls for requests, in milliseconds: from `least` to `most`, growing by `growth`. */
const idlePollMs = { least: 3, most: 50, growth: 1.3 }
const failedPauseMs = 20
/** Number of write conflicts that mean that one of the owner's writes is locked. Usually an owner has none. */
const conflictsMax = 10

interface Waiting<Op, Result> {
  readonly ops: readonly Op[]
  readonly resolve: (answers: Answers<Result>) => void
  readonly reject: (error: unknown) => void
}

/** Commits the writes of all processes to one hot key, one transaction after the other. */
export class KeyOwner<Op, Result> {
  private waiting: Waiting<Op, Result>[] = []
  private wake = () => {}
  /** Whether the next transaction takes no requests. */
  private skipsRequests = false

  constructor(private readonly parts: OwnerParts<Op, Result>) {}

  /** Commits writes of this process with the next transaction. @throws what the transaction throws. */
  async submit(ops: readonly Op[]): Promise<Answers<Result>> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ ops, resolve, reject })
      this.wake()
    })
  }

  /**
   * Commits writes until other processes send none, this process sends none, or the lease is lost. Never throws.
   * A transaction costs the commands of its writes, and two more for requests of other processes.
   */
  async serve(): Promise<void> {
    let now = performance.now()
    let [ownAt, othersAt] = [now, now]
    let isOwner = true
    let idleMs = idlePollMs.least
    const renewal = setInterval(async () => {
      isOwner &&= await this.parts.renew().catch(() => false)
    }, renewMs).unref()
    for (;;) {
      const own = this.waiting
      this.waiting = []
      const served = await this.commitNext(own, isOwner)
      now = performance.now()
      if (own.length > 0) ownAt = now
      if (served === 'others') othersAt = now
      idleMs = served ? idlePollMs.least : Math.min(idleMs * idlePollMs.growth, idlePollMs.most)
      const isIdle = now - othersAt > idleMsMax.others || now - ownAt > idleMsMax.own
      if ((!isOwner || isIdle) && this.waiting.length === 0) break
      if (served)
        await sleep(served === 'failed' ? failedPauseMs : lingerMs, undefined, { ref: false })
      else await this.waitForWrite(idleMs)
    }
    clearInterval(renewal)
    this.parts.onEnd()
  }

  /** Waits until a write of this process arrives, for at most `ms` milliseconds. */
  private async waitForWrite(ms: number): Promise<void> {
    if (this.waiting.length > 0) return
    const stop = new AbortController()
    this.wake = () => stop.abort()
    await sleep(ms, undefined, { ref: false, signal: stop.signal }).catch(() => {})
    this.wake = () => {}
  }

  private async commitNext(
    own: readonly Waiting<Op, Result>[],
    isOwner: boolean,
  ): Promise<'others' | 'own' | 'failed' | undefined> {
    const requests: HotWriteDoc[] = []
    try {
      let room = opsMax - own.reduce((sum, { ops }) => sum + ops.length, 0)
      const takesRequests = isOwner && !this.skipsRequests
      this.skipsRequests = false
      const found = takesRequests
        ? await this.parts.writes.loadRequests(this.parts.key, requestsMax)
        : []
      for (const request of found) {
        room -= request.ops.length
        if (room >= 0) requests.push(request)
      }
      if (own.length + requests.length === 0) return undefined
      await this.commit(own, requests)
      return requests.length > 0 ? 'others' : 'own'
    } catch (error) {
      this.parts.onNotCommitted(
        requests.flatMap(({ ops }) => ops.map((op) => this.parts.unpack(op))),
      )
      const isApart = error instanceof Poisoned || error instanceof Contended
      if (isApart && requests.length > 0) {
        await this.parts.writes.refuseRequests(this.parts.key, requests).catch(() => {})
      }
      if (error instanceof Withdrawn) {
        // Nothing was written. The next transaction has only own writes, which are never withdrawn.
        this.skipsRequests = own.length > 0
        this.waiting.unshift(...own)
      } else for (const { reject } of own) reject(error)
      return 'failed'
    }
  }

  private async commit(
    own: readonly Waiting<Op, Result>[],
    requests: readonly HotWriteDoc[],
  ): Promise<void> {
    const { transactions, writes, admit, lock, apply, unpack } = this.parts
    const sizes = [...own, ...requests].map(({ ops }) => ops.length)
    const all = [
      ...own.flatMap(({ ops }) => ops),
      ...requests.flatMap(({ ops }) => ops.map((op) => unpack(op))),
    ]
    const refusals = await admit(all)
    const work = lockedAgain(
      (tx) => lock(tx, all),
      async (tx) => {
        const results = await commitAdmitted(all, refusals, (some) => apply(tx, some))
        const parts = split(results, sizes)
        const asked = requests.map((request, at) => ({
          request,
          answers: (parts[own.length + at] ?? []).map(packAnswer),
        }))
        if (asked.length > 0) await writes.answerRequests(tx, asked)
        return parts
      },
    )
    const answers = await transactions.run(work, undefined, watchCollisions(conflictsMax))
    for (const [at, { resolve }] of own.entries()) resolve(answers[at] as Answers<Result>)
  }
}

/** Cuts a list into parts of the given sizes. */
function split<T>(all: readonly T[], sizes: readonly number[]): readonly (readonly T[])[] {
  let from = 0
  return sizes.map((size) => {
    from += size
    return all.slice(from - size, from)
  })
}
