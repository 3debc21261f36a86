import { formatTable } from '../feeds/report.ts'
import type { BenchOptions } from '../options.ts'
import { quantile } from '../statistics.ts'
import { bytesSide } from './bytes.ts'
import { fanoutSide } from './fanout.ts'
import { importSide } from './import.ts'
import { rebuildSide } from './rebuild.ts'
import { registerSide } from './register.ts'
import { formatBound, keepsBound, type ScaleSide } from './side.ts'
import { sparseSide } from './sparse.ts'

/** All sides, in the order in which they run. */
const sides: readonly ScaleSide[] = [
  ...[registerSide, bytesSide, fanoutSide],
  ...[rebuildSide, importSide, sparseSide],
]

/**
 * Measures what decides how far a deployment grows, side by side: a side is a file of this folder.
 * Each round of a side gives one value per key. The result has the median of each key.
 * @param options `sides` selects some of the sides by name. Default: all but long ones.
 * @throws if there is no side of a name.
 */
export async function benchmarkScale(options: BenchOptions): Promise<Record<string, number>> {
  const { log, print } = options
  const result: Record<string, number> = {}
  const rows: string[][] = []
  for (const { name, keys, measure } of selectSides(options.sides)) {
    const startedAt = performance.now()
    log(`side ${name}`)
    const values = await measure({ ...options, log: (line) => log(`${name}: ${line}`) })
    log(`side ${name} took ${((performance.now() - startedAt) / 1000).toFixed(0)} s`)
    for (const [key, { meaning, wanted }] of Object.entries(keys)) {
      const rounds = values[key] ?? []
      const median = quantile(rounds, 0.5)
      result[key] = median
      rows.push([
        `\`${key}\``,
        meaning,
        `${formatValue(median)} (${formatValue(Math.min(...rounds))}–${formatValue(Math.max(...rounds))})`,
        wanted ? formatBound(wanted) : '',
        wanted ? (keepsBound(median, wanted) ? 'yes' : '**no**') : '',
      ])
    }
  }
  print(formatTable(['key', '', 'median (least–most)', 'wanted', 'met'], rows))
  return result
}

function selectSides(names: readonly string[]): readonly ScaleSide[] {
  const unknown = names.find((name) => !sides.some((side) => side.name === name))
  if (unknown !== undefined)
    throw new Error(`there is no side "${unknown}": ${sides.map(({ name }) => name).join(', ')}`)
  return names.length === 0
    ? sides.filter(({ isLong }) => !isLong)
    : sides.filter(({ name }) => names.includes(name))
}

const formatValue = (value: number): string =>
  value >= 100 ? Math.round(value).toLocaleString('en') : value.toFixed(2)
