/** What happens at a time, unless it is deleted before. */
export interface Deadline {
  /** By the monotonic clock, in milliseconds. */
  readonly at: number
  readonly end: () => void
}

/**
 * Ends what is not over at its deadline. One timer serves all, because a timer for each request
 * costs more than all else that is done for its deadline.
 */
export class Deadlines {
  private readonly pending = new Set<Deadline>()
  private timer: NodeJS.Timeout | undefined
  /** When the timer fires. */
  private firesAt = Number.POSITIVE_INFINITY

  /**
   * @param outside runs work outside of the request that is being served, to which other deadlines
   *   do not belong.
   */
  constructor(private readonly outside: (work: () => void) => void) {}

  add(deadline: Deadline): void {
    this.pending.add(deadline)
    if (deadline.at < this.firesAt) this.setTimer(deadline.at)
  }

  /** A repeat does nothing. */
  delete(deadline: Deadline): void {
    this.pending.delete(deadline)
  }

  private setTimer(at: number): void {
    clearTimeout(this.timer)
    this.firesAt = at
    this.outside(() => {
      this.timer = setTimeout(() => this.endDue(), Math.max(0, at - performance.now())).unref()
    })
  }

  private endDue(): void {
    this.firesAt = Number.POSITIVE_INFINITY
    const now = performance.now()
    let next = Number.POSITIVE_INFINITY
    for (const deadline of this.pending) {
      if (deadline.at > now) {
        next = Math.min(next, deadline.at)
        continue
      }
      this.pending.delete(deadline)
      deadline.end()
    }
    if (next < this.firesAt) this.setTimer(next)
  }
}
