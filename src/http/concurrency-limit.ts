/**
 * The fewest requests that are executed at once. With fewer, few requests share a read: pages then
 * cost a third more.
 */
const runningMin = 16
/** The share of busy time above which more requests at once cannot be answered sooner. */
const utilizationMax = 0.95

/**
 * How many requests are executed at once. More requests help while they wait for the database. Once
 * the event loop has no idle time, each further request only delays all others, also the refusals.
 * So the limit falls by three tenths then, and rises by one while there is idle time, as a TCP
 * window does (Chiu and Jain, Analysis of the Increase and Decrease Algorithms, 1989).
 */
export class ConcurrencyLimit {
  private limit: number

  /** @param max the highest limit, and the first one. */
  constructor(private readonly max: number) {
    this.limit = max
  }

  get current(): number {
    return Math.ceil(this.limit)
  }

  /**
   * Adjusts the limit.
   * @param utilization the share of the time since the last call in which the event loop was busy,
   *   from 0 to 1.
   * @param isReached whether as many requests run as may. The limit rises only then.
   */
  adjust(utilization: number, isReached: boolean): void {
    if (utilization > utilizationMax)
      this.limit = Math.max(Math.min(runningMin, this.max), this.limit * 0.7)
    else if (isReached) this.limit = Math.min(this.max, this.limit + 1)
  }
}
