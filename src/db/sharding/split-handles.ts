/** The number of sampled handles for each range from which quantiles are better than the alphabet. */
const sampledPerRange = 10

const letters = 'abcdefghijklmnopqrstuvwxyz'
/** All texts of three letters, in order: enough for 17,576 ranges. */
const texts = letters.length ** 3

const textAt = (n: number): string =>
  [letters.length ** 2, letters.length, 1]
    .map((place) => letters[Math.floor(n / place) % letters.length])
    .join('')

/**
 * Splits all handles into ranges with about the same number of accounts: by the quantiles of a sample, or evenly over
 * the alphabet while there are few accounts.
 * @param sample handles of existing accounts, in any order.
 * @returns the first handle of each range but the first one, strictly ascending. Fewer than `ranges - 1` if the sample
 *   repeats.
 */
export function splitHandles(ranges: number, sample: readonly string[]): string[] {
  const sorted = [...sample].sort()
  const at = (n: number) =>
    sorted.length >= ranges * sampledPerRange
      ? (sorted[Math.floor((n * sorted.length) / ranges)] as string)
      : textAt(Math.floor((n * texts) / ranges))
  return [...new Set(Array.from({ length: ranges - 1 }, (_, n) => at(n + 1)))]
}
