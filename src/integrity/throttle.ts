import { setTimeout as sleep } from 'node:timers/promises'

/** Limits work to a number of documents a second, averaged over its whole duration. */
export class Throttle {
  private readonly startedAt = performance.now()
  private taken = 0

  /** @param perSecond undefined: no limit. */
  constructor(private readonly perSecond: number | undefined) {}

  /** Waits until the limit allows `documents` more. Throws the reason of `signal` if it aborts. */
  async spend(documents: number, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted()
    this.taken += documents
    if (this.perSecond === undefined) return
    const dueAt = this.startedAt + (1000 * this.taken) / this.perSecond
    const ms = dueAt - performance.now()
    if (ms <= 0) return
    // Throws the reason of the abort instead of the error of the timer.
    await sleep(ms, undefined, { signal }).catch(() => signal?.throwIfAborted())
  }
}
