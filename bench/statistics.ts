/** The value at quantile `q` of `values`, with `q` from 0 to 1. NaN if there are no values. */
export function quantile(values: readonly number[], q: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))] ?? Number.NaN
}

/** Median, minimum and maximum of the values of all rounds. */
export interface Summary {
  readonly median: number
  readonly min: number
  readonly max: number
}

/** Summarizes values, one per round. */
export const summarize = (values: readonly number[]): Summary => ({
  median: quantile(values, 0.5),
  min: Math.min(...values),
  max: Math.max(...values),
})

/** Formats a summary as `median (min–max)`. */
export const formatSummary = ({ median, min, max }: Summary, digits = 2): string =>
  `${median.toFixed(digits)} (${min.toFixed(digits)}–${max.toFixed(digits)})`
