import { formatTable } from '../feeds/report.ts'
import { quantile } from '../statistics.ts'
import { readStrategies } from './data.ts'
import { isWithin, type Key, type Measured, type ReadsRound } from './keys.ts'
import { type LoadName, loadNames } from './side.ts'

const integer = (value: number) => Math.round(value).toLocaleString('en')
const formatValue = (value: number) => (value >= 1_000 ? integer(value) : value.toFixed(2))

/** Formats the keys with their quartiles and bounds. A bound that is missed is bold. */
export const formatKeyTable = (keys: Readonly<Record<string, Key>>): string =>
  formatTable(
    ['key', 'ratio of medians', 'quartiles of the rounds', ...readStrategies, 'wanted'],
    Object.entries(keys).map(([name, key]) => {
      const { worse, byStrategy, wanted } = key
      const bound = wanted && ('least' in wanted ? `≥ ${wanted.least}` : `≤ ${wanted.most}`)
      if ('reason' in worse)
        return [`\`${name}\``, 'none', worse.reason, ...readStrategies.map(() => ''), bound ?? '']
      const text = formatValue(worse.value)
      const formatMeasured = (measured: Measured | undefined) =>
        measured && 'value' in measured ? formatValue(measured.value) : ''
      return [
        `\`${name}\``,
        isWithin(key) === false ? `**${text}**` : text,
        worse.quartiles.map(formatValue).join('–'),
        ...readStrategies.map((strategy) => formatMeasured(byStrategy[strategy])),
        bound ?? '',
      ]
    }),
  )

const columns = [
  ...['per second', 'p50 ms', 'p99 ms', 'server µs', 'database µs', 'bytes', 'promise'],
] as const

/** Formats a table for each load, the mixes first: the medians of each side over all rounds, with its promise. */
export function formatLoadTables(
  rounds: readonly ReadsRound[],
  promises: Readonly<Record<string, string>>,
): string {
  const { mix, openMix, ...others } = loadNames
  const [first] = rounds
  const format = (load: LoadName, name: string) =>
    formatTable(
      [name, ...columns],
      Object.keys(first?.loads ?? {}).flatMap((side) => formatSide(rounds, side, load, promises)),
    )
  const open = formatTable(
    [`${openMix}, p99 at most 100 ms`, 'operations/s sustained, by round', 'promise'],
    Object.keys(first?.openMix ?? {}).map((side) => [
      side,
      rounds.map((round) => integer(round.openMix[side] ?? Number.NaN)).join(', '),
      promises[side] ?? '',
    ]),
  )
  const tables = Object.entries(others).map(([load, name]) => format(load as LoadName, name))
  return [format('mix', mix), open, ...tables].join('\n')
}

function formatSide(
  rounds: readonly ReadsRound[],
  side: string,
  load: LoadName,
  promises: Readonly<Record<string, string>>,
): string[][] {
  const results = rounds.flatMap((round) => round.loads[side]?.[load] ?? [])
  if (results.length === 0) return []
  const median = (of: (result: (typeof results)[number]) => number) =>
    quantile(results.map(of), 0.5)
  return [
    [
      side,
      integer(median(({ perSecond }) => perSecond)),
      median(({ p50Ms }) => p50Ms).toFixed(1),
      median(({ p99Ms }) => p99Ms).toFixed(1),
      integer(median(({ serverUs }) => serverUs)),
      integer(median(({ databaseUs }) => databaseUs)),
      integer(median(({ bytes }) => bytes)),
      promises[side] ?? '',
    ],
  ]
}
