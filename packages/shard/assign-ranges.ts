/** The zones among which ranges are assigned. */
export interface Zones {
  /** The zones of all shards that stay. */
  readonly live: ReadonlySet<string>
  /** The zones of `live` that get a share of the ranges of the others. */
  readonly joining: readonly string[]
  /**
   * Whether an operator has made a zone. No range of it moves, and it gets no range of another
   * zone.
   */
  readonly isOperators: (zone: string) => boolean
}

/**
 * Gives every range of accounts to a zone. A range of a live zone stays, so an operator's placement
 * does. Ranges of zones that are gone go to the zones with the fewest, and joining zones take
 * ranges from those with the most, until they have an equal share.
 * @param assigned the zone of each range in order, undefined for a range without a zone.
 */
export function assignRanges(
  assigned: readonly (string | undefined)[],
  { live, joining, isOperators }: Zones,
): string[] {
  if (assigned.every((zone) => zone === undefined)) {
    // Neighbours stay together, so that a shard has as few borders as possible.
    return assigned.map(
      (_, n) => joining[Math.floor((n * joining.length) / assigned.length)] as string,
    )
  }
  const result = assigned.map((zone) => (zone !== undefined && live.has(zone) ? zone : undefined))
  const kept = result.filter((zone) => zone !== undefined)
  const known = [...new Set([...kept, ...joining])]
  const takers = [known.filter((zone) => !isOperators(zone)), known, [...live]].find(
    ({ length }) => length > 0,
  )
  const counts = new Map(takers?.map((zone) => [zone, 0]))
  const count = (zone: string, by: number) => {
    const before = counts.get(zone)
    if (before !== undefined) counts.set(zone, before + by)
  }
  for (const zone of kept) count(zone, 1)
  const byCount = () => [...counts].sort(([, a], [, b]) => a - b)
  for (const [n, zone] of result.entries()) {
    if (zone !== undefined) continue
    const [least] = byCount()[0] as [string, number]
    result[n] = least
    count(least, 1)
  }
  const share = Math.floor([...counts.values()].reduce((sum, n) => sum + n, 0) / counts.size)
  for (const zone of joining) {
    while ((counts.get(zone) ?? share) < share) {
      const [most] = byCount().at(-1) as [string, number]
      result[result.lastIndexOf(most)] = zone
      count(most, -1)
      count(zone, 1)
    }
  }
  return result as string[]
}
