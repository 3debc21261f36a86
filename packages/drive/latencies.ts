import { createHistogram, type RecordableHistogram } from 'node:perf_hooks'

/** Longer latencies count as this one, in microseconds: ten minutes. */
const microsecondsMax = 600_000_000

/** The percentiles of a curve. */
const curvePercentiles = [
  ...[0, 10, 25, 50, 75, 90, 95, 97.5, 99, 99.5, 99.75, 99.9, 99.95, 99.99, 99.999],
]

/** Percentiles of latencies, in milliseconds. */
export interface Percentiles {
  readonly p50Ms: number
  readonly p90Ms: number
  readonly p99Ms: number
  readonly p999Ms: number
  readonly maxMs: number
  readonly meanMs: number
}

/** Latencies in a histogram with three significant digits, from a microsecond to ten minutes. Its memory is bounded. */
export class Latencies {
  private readonly histogram: RecordableHistogram = createHistogram({
    lowest: 1,
    highest: microsecondsMax,
    figures: 3,
  })

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

  /** The latency that `percent` of 100 latencies do not exceed, in milliseconds. 0 without latencies. */
  percentile(percent: number): number {
    if (this.count === 0) return 0
    return percent === 0
      ? toMs(this.histogram.min)
      : toMs(Math.min(this.histogram.percentile(percent), this.histogram.max))
  }

  /** Undefined without latencies. */
  summarize(): Percentiles | undefined {
    if (this.count === 0) return undefined
    const [p50Ms, p90Ms, p99Ms, p999Ms] = [50, 90, 99, 99.9].map((p) => this.percentile(p)) as [
      number,
      number,
      number,
      number,
    ]
    const { max, mean } = this.histogram
    return { p50Ms, p90Ms, p99Ms, p999Ms, maxMs: toMs(max), meanMs: toMs(Math.round(mean)) }
  }

  /** The curve of percentiles: pairs of percent and milliseconds, as far as the number of latencies supports them. */
  curve(): (readonly [percent: number, ms: number])[] {
    const supported = curvePercentiles.filter((p) => p === 0 || this.count * (1 - p / 100) >= 1)
    return this.count === 0
      ? []
      : [...supported.map((p) => [p, this.percentile(p)] as const), [100, this.percentile(100)]]
  }
}

const toMs = (microseconds: number): number => microseconds / 1000
