import type { FeedStrategyName } from '../../src/timeline/strategies/list.ts'
import { quantile } from '../statistics.ts'
import type { LogCost } from './log-cost.ts'
import type { ReadResult } from './measure.ts'
import type { ServerMemory } from './memory.ts'
import { rivalMissing, rivalName } from './rival-side.ts'
import { type Row, type RowName, rowNames, rows } from './rows.ts'

/** The results of a round: of each row, by the name of the side. */
export type ReadsRound = Readonly<Partial<Record<RowName, Readonly<Record<string, ReadResult>>>>>

/** The results of all rounds, and those of Feedline alone, by strategy. */
export interface ReadsResults {
  readonly rounds: readonly ReadsRound[]
  readonly memory: Readonly<Record<string, readonly ServerMemory[]>>
  readonly log: Readonly<Record<string, readonly LogCost[]>>
}

/** The strategy whose values the keys are: the one that a server has by default. */
export const defaultStrategy: FeedStrategyName = 'FANOUT_ON_READ'

/** A value with its quartiles, or why it could not be measured. */
export type Measured =
  | { readonly value: number; readonly quartiles: readonly [number, number] }
  | { readonly reason: string }

/** What a value must at least, or at most, be. */
export type Bound = { readonly least: number } | { readonly most: number }

/** The value of each strategy. That of the default strategy counts. */
export interface Key {
  readonly byStrategy: Readonly<Record<string, Measured>>
  readonly wanted: Bound | undefined
}

const notMeasured = 'This run did not measure it.'

/** The median of values with their quartiles. @returns `missing` without a value. */
function measureMedian(values: readonly number[], missing = notMeasured): Measured {
  const known = values.filter(Number.isFinite)
  if (known.length === 0) return { reason: missing }
  return {
    value: quantile(known, 0.5),
    quartiles: [quantile(known, 0.25), quantile(known, 0.75)],
  }
}

/** The ratio of two medians, with the quartiles of the ratios of the rounds. */
export function measureRatio(
  above: readonly number[],
  below: readonly number[],
  missing?: string,
): Measured {
  const [top, bottom] = [measureMedian(above), measureMedian(below, missing)]
  if ('reason' in top) return top
  if ('reason' in bottom) return bottom
  const ratios = measureMedian(above.map((value, round) => value / (below[round] ?? Number.NaN)))
  return 'reason' in ratios ? ratios : { ...ratios, value: top.value / bottom.value }
}

/** Computes the keys of the benchmark, in the order of the report. */
export function computeKeys(
  { rounds, memory, log }: ReadsResults,
  strategies: readonly FeedStrategyName[],
): Readonly<Record<string, Key>> {
  const valuesOf = (row: RowName, side: string, part: 'perSecond' | 'serverUs') =>
    rounds.map((round) => round[row]?.[side]?.[part] ?? Number.NaN)
  const createKey = (of: (strategy: string) => Measured, wanted?: Bound): Key => ({
    byStrategy: Object.fromEntries(strategies.map((strategy) => [strategy, of(strategy)])),
    wanted,
  })
  const ratios = rowNames
    .filter((row) => row !== 'first_hundred')
    .map((row) => {
      const { least }: Row = rows[row]
      const below = valuesOf(row, rivalName, 'perSecond')
      const of = (strategy: string) =>
        measureRatio(valuesOf(row, strategy, 'perSecond'), below, rivalMissing)
      return [`${row}_vs_postgres_apollo`, createKey(of, least ? { least } : undefined)] as const
    })
  const firstHundred = (strategy: string) =>
    measureRatio(
      valuesOf('first_hundred', strategy, 'serverUs'),
      valuesOf('page_first_visit', strategy, 'serverUs'),
    )
  const memoryOf = (part: keyof ServerMemory) => (strategy: string) =>
    measureMedian(memory[strategy]?.map((measured) => measured[part]) ?? [])
  const logOf = (part: keyof LogCost) => (strategy: string) =>
    measureMedian(log[strategy]?.map(({ [part]: { server, database } }) => server + database) ?? [])
  return {
    ...Object.fromEntries(ratios),
    first_hundred_vs_warm: createKey(firstHundred, { most: 4 }),
    rss_at_rest_mb: createKey(memoryOf('atRestMb'), { most: 150 }),
    rss_after_mix_mb: createKey(memoryOf('afterMixMb'), { most: 350 }),
    log_idle_core: createKey(logOf('idle'), { most: 0.01 }),
    log_240_posts_core: createKey(logOf('posts'), { most: 0.08 }),
  }
}

/** The value that counts. */
export const headlineOf = ({ byStrategy }: Key): Measured =>
  byStrategy[defaultStrategy] ?? { reason: `This run did not measure ${defaultStrategy}.` }

/** Whether a value is within its bound. Undefined without a value or a bound. */
export function isWithin(key: Key): boolean | undefined {
  const measured = headlineOf(key)
  if (!key.wanted || 'reason' in measured) return undefined
  return 'least' in key.wanted
    ? measured.value >= key.wanted.least
    : measured.value <= key.wanted.most
}

/**
 * The keys as JSON: values, values of each strategy, quartiles and reasons, each by key. A key
 * without a value is null.
 */
export function formatKeys(keys: Readonly<Record<string, Key>>) {
  const all = Object.entries(keys)
  const mapAll = <T>(of: (key: Key) => T) =>
    Object.fromEntries(all.map(([name, key]) => [name, of(key)]))
  const numberOf = (measured: Measured) => ('reason' in measured ? null : measured.value)
  const present = <T>(of: (measured: Measured) => T | undefined) =>
    Object.fromEntries(
      all.flatMap(([name, key]) => {
        const value = of(headlineOf(key))
        return value === undefined ? [] : [[name, value]]
      }),
    )
  return {
    ...mapAll((key) => numberOf(headlineOf(key))),
    by_strategy: mapAll(({ byStrategy }) =>
      Object.fromEntries(
        Object.entries(byStrategy).map(([name, measured]) => [name, numberOf(measured)]),
      ),
    ),
    quartiles: present((measured) => ('reason' in measured ? undefined : measured.quartiles)),
    reasons: present((measured) => ('reason' in measured ? measured.reason : undefined)),
  }
}
