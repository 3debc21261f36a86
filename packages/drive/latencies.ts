import { createHistogram } from 'node:perf_hooks'

/** Longer latencies count as this one, in microseconds: ten minutes. */
const microsecondsMax = 600_000_000

/** Percentiles of latencies, in milliseconds. */
export interface Percentiles {
  readonly p50Ms: number
  readonly p90Ms: number
  readonly p99Ms: number
  readonly p999Ms: number
  readonly maxMs: number
}

/**
 * Latencies in a histogram with three significant digits, from a microsecond to ten minutes. Its
 * memory is bounded.
 */
export class Latencies {
  private readonly histogram = createHistogram({ lowest: 1, highest: microsecondsMax, figures: 3 })

  /** Adds a latency in milliseconds. */
  record(ms: number): void {
    this.histogram.record(Math.min(Math.max(Math.round(ms * 1000), 1), microsecondsMax))
  }

  /** Adds all latencies of another histogram. */
  add(other: Latencies): void {
    if (other.count > 0) this.histogram.add(other.histogram)
  }

  reset(): void {
    this.histogram.reset()
  }

  get count(): number {
    return this.histogram.count
  }

  /**
   * The latency that `percent` of 100 latencies do not exceed, in milliseconds. 0 without
   * latencies.
   */
  percentile(percent: number): number {
    const { count, max } = this.histogram
    return count === 0 ? 0 : Math.min(this.histogram.percentile(percent), max) / 1000
  }

  /** Undefined without latencies. */
  summarize(): Percentiles | undefined {
    if (this.count === 0) return undefined
    return {
      p50Ms: this.percentile(50),
      p90Ms: this.percentile(90),
      p99Ms: this.percentile(99),
      p999Ms: this.percentile(99.9),
      maxMs: this.percentile(100),
    }
  }
}
