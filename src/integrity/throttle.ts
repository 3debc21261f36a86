import { setTimeout as sleep } from 'node:timers/promises'

/** Limits work to a number of documents a second, averaged over its whole duration. */
export class Throttle {
  private readonly startedAt = performance.now()
  private taken = 0

  /** @param perSecond undefined: no limit. */
  constructor(private readonly perSecond: number | undefined) {}

  /** Waits until reading `documents` more is within the limit. Throws the reason of `signal` once it aborts. */
  async spend(documents: number, signal?: AbortSignal): Promise<void> {
    this.taken += documents
    if (this.perSecond === undefined) return
    const dueAt = this.startedAt + (1000 * this.taken) / this.perSecond
    const ms = dueAt - performance.now()
    if (ms <= 0) return
    // The reason of the abort, not the error of the timer.
    await sleep(ms, undefined, { signal }).catch(() => signal?.throwIfAborted())
  }
}
