import { setTimeout as sleep } from 'node:timers/promises'

/** Keeps work to a number of documents a second, over the whole time that it takes. */
export class Pace {
  private readonly startedAt = performance.now()
  private taken = 0

  /** @param perSecond undefined: as fast as it goes. */
  constructor(private readonly perSecond: number | undefined) {}

  /** Waits until so many more were due to be read. */
  async spend(documents: number, signal?: AbortSignal): Promise<void> {
    this.taken += documents
    if (this.perSecond === undefined) return
    const dueAt = this.startedAt + (1000 * this.taken) / this.perSecond
    const ms = dueAt - performance.now()
    if (ms <= 0) return
    // Ends with the reason of who stops the run, not with the timer's own error.
    await sleep(ms, undefined, { signal }).catch(() => signal?.throwIfAborted())
  }
}
