import type { StoredRanges } from './zone-ranges.ts'

/** The number of sampled ids for each range from which quantiles are better than none. */
const sampledPerRange = 10

const capitals = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'
const digits = `0123456789${capitals}${capitals.toLowerCase()}`

/** Minted ids begin with a capital. Ids of earlier releases, which are handles, lie below and above all of them. */
const [mintedFrom, mintedTo] = ['A', '[']
const isMinted = (id: string): boolean => id >= mintedFrom && id < mintedTo

/** All beginnings of minted ids with three characters, in order: enough for 99,944 ranges. */
const beginnings = capitals.length * digits.length ** 2

const beginningAt = (n: number): string =>
  [
    capitals[Math.floor(n / digits.length ** 2)],
    digits[Math.floor(n / digits.length) % digits.length],
    digits[n % digits.length],
  ].join('')

/** Splits minted ids, which are spread evenly. @returns the first id of each range but the first one. */
const splitMinted = (ranges: number): string[] =>
  Array.from({ length: ranges - 1 }, (_, at) =>
    beginningAt(Math.floor(((at + 1) * beginnings) / ranges)),
  )

/**
 * Splits all ids of accounts into ranges with about the same number of accounts: those of earlier releases by the
 * quantiles of a sample, or minted ids evenly if there are few of those.
 * @param sample ids of existing accounts, in any order.
 * @returns the first id of each range but the first one, strictly ascending. Fewer than `ranges - 1` if the sample repeats.
 */
export function splitAccounts(ranges: number, sample: readonly string[]): string[] {
  const earlier = sample.filter((id) => !isMinted(id)).sort()
  if (earlier.length < ranges * sampledPerRange) return splitMinted(ranges)
  const quantile = (at: number) => earlier[Math.floor((at * earlier.length) / ranges)] as string
  return [...new Set(Array.from({ length: ranges - 1 }, (_, at) => quantile(at + 1)))]
}

/**
 * Cuts the range that holds all minted ids, so that new accounts are on all shards. Other ranges stay, and so do ranges
 * that hold some of them already.
 * @param mayCut whether a range of this zone may be cut.
 * @returns the new ranges without a zone.
 */
export function cutMinted(
  { splits, zones }: StoredRanges,
  ranges: number,
  mayCut: (zone: string | undefined) => boolean,
): StoredRanges {
  const at = splits.filter((split) => split < mintedFrom).length
  if (splits.some(isMinted) || !mayCut(zones[at])) return { splits, zones }
  const cuts = [mintedFrom, ...splitMinted(ranges), mintedTo].filter((cut) => cut !== splits[at])
  const inner = cuts.map((cut) => (cut === mintedTo ? zones[at] : undefined))
  return { splits: splits.toSpliced(at, 0, ...cuts), zones: zones.toSpliced(at + 1, 0, ...inner) }
}
