import { formatTable } from '../feeds/report.ts'
import { quantile } from '../statistics.ts'
import type { Measured, ReadsRound } from './keys.ts'
import type { ReadResult } from './loads.ts'

const integer = (value: number) => Math.round(value).toLocaleString('en')

/** Formats the keys with their quartiles. */
export const formatKeyTable = (keys: Readonly<Record<string, Measured>>): string =>
  formatTable(
    ['key', 'ratio of medians', 'quartiles of the rounds'],
    Object.entries(keys).map(([key, one]) => {
      if ('reason' in one) return [`\`${key}\``, 'none', one.reason]
      const format = one.value >= 1_000 ? integer : (value: number) => value.toFixed(2)
      return [`\`${key}\``, format(one.value), one.quartiles.map(format).join('–')]
    }),
  )

const columns = ['per second', 'p50 ms', 'p99 ms', 'server µs', 'database µs', 'bytes'] as const

/** Formats a table for each load: the medians of each side over all rounds. */
export function formatLoadTables(rounds: readonly ReadsRound[]): string {
  const sides = Object.keys(rounds[0]?.loads ?? {})
  const names = [...new Set(sides.flatMap((side) => Object.keys(rounds[0]?.loads[side] ?? {})))]
  const tables = names.map((name) =>
    formatResultTable(name, sides, (round, side) => round.loads[side]?.[name], rounds),
  )
  return tables.join('\n')
}

/** Formats the tables of posts and of the mix. */
export function formatWriteTables(rounds: readonly ReadsRound[]): string {
  const sides = Object.keys(rounds[0]?.compose ?? {})
  const mix = formatTable(
    ['mix', 'operations/s sustained, by round'],
    Object.keys(rounds[0]?.mix ?? {}).map((side) => [
      side,
      rounds.map((round) => integer(round.mix[side] ?? Number.NaN)).join(', '),
    ]),
  )
  return [
    formatResultTable('post, alone', sides, ({ compose }, side) => compose[side]?.alone, rounds),
    formatResultTable(
      'post, 16 at once',
      sides,
      ({ compose }, side) => compose[side]?.sixteen,
      rounds,
    ),
    mix,
  ].join('\n')
}

function formatResultTable(
  name: string,
  sides: readonly string[],
  read: (round: ReadsRound, side: string) => ReadResult | undefined,
  rounds: readonly ReadsRound[],
): string {
  const rows = sides.flatMap((side) => {
    const results = rounds.flatMap((round) => read(round, side) ?? [])
    if (results.length === 0) return []
    const median = (of: (result: ReadResult) => number) => quantile(results.map(of), 0.5)
    return [
      [
        side,
        integer(median(({ perSecond }) => perSecond)),
        median(({ p50Ms }) => p50Ms).toFixed(1),
        median(({ p99Ms }) => p99Ms).toFixed(1),
        integer(median(({ serverUs }) => serverUs)),
        integer(median(({ databaseUs }) => databaseUs)),
        integer(median(({ bytes }) => bytes)),
      ],
    ]
  })
  return formatTable([name, ...columns], rows)
}
