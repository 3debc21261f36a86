/**
 * Gives every range of handles to a zone, so that each zone has as many as the others, or one more. Keeps what is
 * assigned already, except for ranges of zones that are gone, and what an overloaded zone gives away.
 * @param assigned the zone of each range in order, undefined for a range without a zone.
 * @param zones at least one, at most as many as there are ranges.
 */
export function assignRanges(
  assigned: readonly (string | undefined)[],
  zones: readonly string[],
): string[] {
  if (assigned.every((zone) => zone === undefined)) {
    // Neighbours stay together, so that a shard has as few borders as possible.
    return assigned.map((_, n) => zones[Math.floor((n * zones.length) / assigned.length)] as string)
  }
  const counts = new Map(zones.map((zone) => [zone, 0]))
  const count = (zone: string, by: number) => counts.set(zone, (counts.get(zone) ?? 0) + by)
  const result = assigned.map((zone) => (zone && counts.has(zone) ? zone : undefined))
  for (const zone of result) if (zone) count(zone, 1)
  const byCount = () => [...counts].sort(([, a], [, b]) => a - b)
  for (const [n, zone] of result.entries()) {
    if (zone) continue
    const [least] = byCount()[0] as [string, number]
    result[n] = least
    count(least, 1)
  }
  for (;;) {
    const sorted = byCount()
    const [least, few] = sorted[0] as [string, number]
    const [most, many] = sorted.at(-1) as [string, number]
    if (many - few < 2) return result as string[]
    result[result.lastIndexOf(most)] = least
    count(most, -1)
    count(least, 1)
  }
}
