import type { ConcurrencyLimit } from './concurrency-limit.ts'

/** How many requests are served at once, and how many wait. */
export interface AdmissionBounds {
  /**
   * Number of requests that are executed at once, at most. This number is admitted in any case: if
   * fewer are executed at once, the others wait.
   */
  readonly runningMax: number
  /** Number of requests that wait for their turn. */
  readonly waitingMax: number
  /**
   * A request beyond `runningMax` that is expected to wait longer is refused when it arrives, in
   * milliseconds.
   */
  readonly expectedWaitMsMax: number
  /** How long a request waits, in milliseconds. */
  readonly waitMsMax: number
}

/** An admitted request. */
export class AdmittedRequest {
  private outcome: boolean | undefined
  private resolve: ((isTurn: boolean) => void) | undefined

  /** Whether it was or is the turn of the request. */
  get hasTurn(): boolean {
    return this.outcome === true
  }

  /**
   * Resolves to true when it is the turn of the request, and to false if it waited too long or has
   * left.
   */
  get turn(): Promise<boolean> {
    if (this.outcome !== undefined) return Promise.resolve(this.outcome)
    return new Promise((resolve) => {
      this.resolve = resolve
    })
  }

  /** Ends the wait. A repeat does nothing. */
  settle(isTurn: boolean): void {
    this.outcome ??= isTurn
    this.resolve?.(this.outcome)
  }
}

/** The number of turns over which the mean time between two turns is taken. */
const turnsMax = 64

/**
 * A queue of bounded length and time, first come, first served. Its time decides, not its length,
 * as in CoDel (Nichols and Jacobson, Controlling Queue Delay, ACM Queue 10(5), 2012). But it
 * refuses on arrival, so that a client learns at once that it must try elsewhere.
 */
export class RequestQueue {
  private readonly running = new Set<AdmittedRequest>()
  /** The requests that wait, oldest first, with the timers that end their waits. */
  private readonly waiting = new Map<AdmittedRequest, NodeJS.Timeout>()
  /** The mean time between two turns since requests began to wait, in milliseconds. */
  private turnMs = 0
  private turns = 0
  private lastTurnAt: number | undefined

  constructor(
    private readonly bounds: AdmissionBounds,
    private readonly limit: Pick<ConcurrencyLimit, 'current'>,
  ) {}

  /** Whether a new request would be refused now. */
  get isFull(): boolean {
    const { runningMax, waitingMax, expectedWaitMsMax } = this.bounds
    const waiting = this.waiting.size
    if (this.running.size + waiting < runningMax) return false
    return waiting >= waitingMax || waiting * this.turnMs > expectedWaitMsMax
  }

  /** Whether as many requests run as may. */
  get isBusy(): boolean {
    return this.running.size >= this.limit.current
  }

  /**
   * Admits a request, for which {@link leave} must be called once it ends. Undefined if it must be
   * refused.
   */
  enter(): AdmittedRequest | undefined {
    if (this.isFull) return undefined
    const request = new AdmittedRequest()
    if (this.isBusy || this.waiting.size > 0) this.wait(request)
    else this.run(request)
    return request
  }

  /** Ends a request, whether it waits or runs. A repeat does nothing. */
  leave(request: AdmittedRequest): void {
    if (this.running.delete(request)) {
      this.measureTurn()
      // The turns that are free go to the requests that have waited longest.
      for (const next of this.waiting.keys()) {
        if (this.isBusy) break
        this.stopWaiting(next)
        this.run(next)
      }
    } else {
      this.giveUp(request)
    }
  }

  private run(request: AdmittedRequest): void {
    this.running.add(request)
    request.settle(true)
  }

  private wait(request: AdmittedRequest): void {
    const timer = setTimeout(() => this.giveUp(request), this.bounds.waitMsMax)
    this.waiting.set(request, timer)
  }

  private giveUp(request: AdmittedRequest): void {
    this.stopWaiting(request)
    request.settle(false)
  }

  private stopWaiting(request: AdmittedRequest): void {
    clearTimeout(this.waiting.get(request))
    this.waiting.delete(request)
  }

  /** Only the time while requests wait counts: an idle server has no turns. */
  private measureTurn(): void {
    if (this.waiting.size === 0) {
      this.turnMs = 0
      this.turns = 0
      this.lastTurnAt = undefined
      return
    }
    const now = performance.now()
    if (this.lastTurnAt !== undefined) {
      this.turns = Math.min(turnsMax, this.turns + 1)
      this.turnMs += (now - this.lastTurnAt - this.turnMs) / this.turns
    }
    this.lastTurnAt = now
  }
}
