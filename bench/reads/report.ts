import { formatTable } from '../feeds/report.ts'
import { quantile } from '../statistics.ts'
import { defaultStrategy, headlineOf, isWithin, type Key, type ReadsRound } from './keys.ts'
import { type RowName, rowNames, rows } from './rows.ts'

const integer = (value: number) => Math.round(value).toLocaleString('en')
const formatValue = (value: number) =>
  value >= 1_000 ? integer(value) : value.toFixed(Math.abs(value) < 0.1 ? 4 : 2)

/** Formats the keys with their quartiles and bounds. A bound that is missed is bold. */
export function formatKeyTable(keys: Readonly<Record<string, Key>>): string {
  const strategies = Object.keys(Object.values(keys)[0]?.byStrategy ?? {})
  const others = strategies.filter((name) => name !== defaultStrategy)
  return formatTable(
    ['key', defaultStrategy, 'quartiles of the rounds', ...others, 'wanted'],
    Object.entries(keys).map(([name, key]) => {
      const { byStrategy, wanted } = key
      const measured = headlineOf(key)
      const own = 'reason' in measured ? 'none' : formatValue(measured.value)
      return [
        `\`${name}\``,
        isWithin(key) === false ? `**${own}**` : own,
        'reason' in measured ? measured.reason : measured.quartiles.map(formatValue).join('–'),
        ...others.map((other) => {
          const value = byStrategy[other]
          return value && 'value' in value ? formatValue(value.value) : ''
        }),
        wanted ? ('least' in wanted ? `≥ ${wanted.least}` : `≤ ${wanted.most}`) : '',
      ]
    }),
  )
}

/** The medians of a row for a side, with the processor time of a request in microseconds. */
export type RowMedians = ReturnType<typeof medianOfRounds>

function medianOfRounds(rounds: readonly ReadsRound[], row: RowName, side: string) {
  const results = rounds.flatMap((round) => round[row]?.[side] ?? [])
  const median = (part: 'perSecond' | 'p50Ms' | 'p99Ms' | 'serverUs' | 'databaseUs' | 'bytes') =>
    quantile(
      results.map((result) => result[part]),
      0.5,
    )
  return {
    ...{ perSecond: median('perSecond'), p50Ms: median('p50Ms'), p99Ms: median('p99Ms') },
    ...{ serverUs: median('serverUs'), databaseUs: median('databaseUs'), bytes: median('bytes') },
  }
}

/** The medians of all rounds, by row and side. */
export function medianRows(
  rounds: readonly ReadsRound[],
): Readonly<Partial<Record<RowName, Readonly<Record<string, RowMedians>>>>> {
  const measured = rowNames.filter((row) => rounds[0]?.[row])
  return Object.fromEntries(
    measured.map((row) => [
      row,
      Object.fromEntries(
        Object.keys(rounds[0]?.[row] ?? {}).map((side) => [
          side,
          medianOfRounds(rounds, row, side),
        ]),
      ),
    ]),
  )
}

/** Formats a table for each row. */
export const formatRowTables = (medians: ReturnType<typeof medianRows>): string =>
  Object.entries(medians)
    .map(([row, sides]) =>
      formatTable(
        [
          ...[rows[row as RowName].title, 'per second', 'p50 ms', 'p99 ms'],
          ...['server µs', 'database µs', 'bytes'],
        ],
        Object.entries(sides).map(([side, { perSecond, p50Ms, p99Ms, ...others }]) => [
          ...[side, integer(perSecond), p50Ms.toFixed(1), p99Ms.toFixed(1)],
          ...[integer(others.serverUs), integer(others.databaseUs), integer(others.bytes)],
        ]),
      ),
    )
    .join('\n')
