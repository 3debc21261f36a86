import type { AccountPlace, CollectionSpec } from '../../src/db/collections.ts'
import { type Document, MaxKey, MinKey } from '../../src/db/mongo.ts'

/** Values of a shard key, `min` inclusive and `max` exclusive, that one zone holds. */
export interface ZoneRange {
  readonly min: Document
  readonly max: Document
  readonly zone: string
}

/** Ranges of accounts by zone. */
export interface AccountRanges {
  /** The first id of each range but the first one, strictly ascending. */
  readonly splits: readonly string[]
  /** The zone of each range, one more than `splits`. */
  readonly zones: readonly string[]
}

/** The value of the first field from which on `id` is in it. */
const valueAt = (place: AccountPlace, id: string): unknown =>
  typeof place === 'object' ? { [place.within]: id } : id

/**
 * The ranges of one collection's shard key, in order and without gaps, from the lowest key to the
 * highest. Documents of one account are in the same zone in all collections.
 */
export function zoneRangesOf(
  { shardKey = {}, accountIn = 'whole' }: CollectionSpec,
  { splits, zones }: AccountRanges,
): ZoneRange[] {
  const [first = '', ...rest] = Object.keys(shardKey)
  const bound = (value: unknown, others: unknown): Document => ({
    [first]: value,
    ...Object.fromEntries(rest.map((field) => [field, others])),
  })
  const starts = zones.map((zone, n) => ({
    zone,
    min: n === 0 ? new MinKey() : valueAt(accountIn, splits[n - 1] as string),
  }))
  return starts.map(({ zone, min }, n) => ({
    min: bound(min, new MinKey()),
    max:
      n + 1 < starts.length
        ? bound(starts[n + 1]?.min, new MinKey())
        : bound(new MaxKey(), new MaxKey()),
    zone,
  }))
}

/** Ranges of accounts, of which some may have no zone. */
export interface StoredRanges {
  readonly splits: readonly string[]
  readonly zones: readonly (string | undefined)[]
}

/**
 * The ranges of accounts that the stored ranges of a collection with an account as its key stand
 * for. A gap between them is a range without a zone. Undefined without stored ranges.
 */
export function accountRangesIn(
  field: string,
  stored: readonly ZoneRange[],
): StoredRanges | undefined {
  if (stored.length === 0) return undefined
  // Undefined below the lowest and above the highest id.
  const idAt = (bound: Document): string | undefined =>
    typeof bound[field] === 'string' ? bound[field] : undefined
  const sorted = stored
    .map(({ min, max, zone }) => ({ from: idAt(min) ?? '', to: idAt(max), zone }))
    .sort((a, b) => (a.from < b.from ? -1 : 1))
  const ranges: { from: string; zone: string | undefined }[] = []
  let reached: string | undefined = ''
  for (const { from, to, zone } of sorted) {
    if (reached !== undefined && reached < from) ranges.push({ from: reached, zone: undefined })
    ranges.push({ from, zone })
    reached = to
  }
  if (reached !== undefined) ranges.push({ from: reached, zone: undefined })
  return { splits: ranges.slice(1).map(({ from }) => from), zones: ranges.map(({ zone }) => zone) }
}
