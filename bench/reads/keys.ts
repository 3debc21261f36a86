import { quantile } from '../statistics.ts'
import { type ReadStrategy, readStrategies } from './data.ts'
import type { SideResults } from './loads.ts'
import type { ServerMemory } from './memory.ts'
import { rivalNames, rivalsMissing } from './rival-names.ts'
import type { LoadName } from './side.ts'

/** The results of one round, by the name of the side. */
export interface ReadsRound {
  readonly loads: Readonly<Record<string, SideResults>>
  /** Operations per second of the mix in open loop. */
  readonly openMix: Readonly<Record<string, number>>
}

/** The results of all rounds, and the memory of servers. */
export interface ReadsResults {
  readonly rounds: readonly ReadsRound[]
  readonly memory: Readonly<Record<ReadStrategy, ServerMemory>>
}

/** A value with its quartiles, or why it could not be measured. */
export type Measured =
  | { readonly value: number; readonly quartiles: readonly [number, number] }
  | { readonly reason: string }

/** A value of each strategy that has it. The worse one counts. */
export interface Key {
  readonly worse: Measured
  readonly byStrategy: Readonly<Partial<Record<ReadStrategy, Measured>>>
  /** The bound of the worse value. */
  readonly wanted: Bound | undefined
}

/** What a value must at least, or at most, be. */
export type Bound = { readonly least: number } | { readonly most: number }

type RivalName = keyof typeof rivalNames

interface RatioKey {
  readonly load: LoadName
  readonly rival: RivalName
  readonly least: number
  /** Default: both. */
  readonly strategy?: ReadStrategy
}

/** The rates of Feedline over those of a rival under the same load. The first ones decide. */
const ratioKeys: Readonly<Record<string, RatioKey>> = {
  mix_vs_postgres_apollo: { load: 'mix', rival: 'postgresApollo', least: 0.8 },
  mix_open_vs_postgres_apollo: { load: 'openMix', rival: 'postgresApollo', least: 0.8 },
  page_first_visit_vs_postgres_apollo: { load: 'firstVisit', rival: 'postgresApollo', least: 1 },
  page_kept_with_counts_vs_postgres_apollo: { load: 'kept', rival: 'postgresApollo', least: 2 },
  compose_inbox_vs_postgres_apollo: {
    ...({ load: 'compose', rival: 'postgresApollo', least: 0.3, strategy: 'INBOX' } as const),
  },
  compose_cache_vs_postgres_apollo: {
    ...({ load: 'compose', rival: 'postgresApollo', least: 0.2, strategy: 'CACHE' } as const),
  },
  compose_inbox_vs_bare_grouped: {
    ...({ load: 'compose', rival: 'bareGrouped', least: 0.9, strategy: 'INBOX' } as const),
  },
  compose_inbox_vs_redis_fsync: {
    ...({ load: 'compose', rival: 'redisPlain', least: 0.3, strategy: 'INBOX' } as const),
  },
  compose_cache_vs_redis_fsync: {
    ...({ load: 'compose', rival: 'redisPlain', least: 0.2, strategy: 'CACHE' } as const),
  },
  page_changed_vs_one_document: { load: 'changed', rival: 'oneDocument', least: 0.4 },
  page_with_counts_vs_redis_checked_apollo: { load: 'kept', rival: 'redisApollo', least: 1 },
  page_unchanged_vs_redis_checked_plain: { load: 'unchanged', rival: 'redisPlain', least: 1.6 },
  poll_304_vs_redis_checked_plain: { load: 'poll304', rival: 'redisPlain', least: 0.8 },
  poll_one_new_vs_redis_checked_plain: { load: 'pollNews', rival: 'redisPlain', least: 0.3 },
  mix_vs_redis_checked_apollo: { load: 'openMix', rival: 'redisApollo', least: 0.45 },
}

const memoryKeys: Readonly<Record<string, readonly [keyof ServerMemory, Bound | undefined]>> = {
  rss_at_rest_mb: ['rssAtRestMb', { most: 120 }],
  rss_after_mix_mb: ['rssAfterMixMb', undefined],
  rss_per_1000_readers_mb: ['rssPer1000ReadersMb', undefined],
  used_per_1000_readers_mb: ['usedPer1000ReadersMb', undefined],
}

const median = (values: readonly number[]) => quantile(values, 0.5)

/** The median of values with their quartiles. @returns `missing` if a round has no value. */
export function measureMedian(values: readonly (number | undefined)[], missing: string): Measured {
  const known = values.filter((value) => value !== undefined)
  if (known.length === 0 || known.length < values.length) return { reason: missing }
  if (!known.every(Number.isFinite)) return { reason: noAnswer }
  return { value: median(known), quartiles: [quantile(known, 0.25), quantile(known, 0.75)] }
}

const noAnswer = 'In one of the rounds, no request was answered in time.'

/** The ratio of two medians, with the quartiles of the ratios of the rounds. */
export function measureRatio(
  above: readonly (number | undefined)[],
  below: readonly (number | undefined)[],
  reason: string,
): Measured {
  const [top, bottom] = [measureMedian(above, reason), measureMedian(below, reason)]
  if ('reason' in top) return top
  if ('reason' in bottom) return bottom
  const ratios = above.map((value, round) => (value ?? Number.NaN) / (below[round] ?? Number.NaN))
  const spread = measureMedian(ratios, reason)
  return 'reason' in spread ? spread : { ...spread, value: top.value / bottom.value }
}

/** The worse value: the lower rate or the higher cost. A reason if there is one. */
function takeWorse(all: readonly Measured[], worse: 'lower' | 'higher'): Measured {
  return all.reduce((first, second) => {
    if ('reason' in first) return first
    if ('reason' in second) return second
    return (worse === 'lower') === first.value < second.value ? first : second
  })
}

function createKey(
  strategies: readonly ReadStrategy[],
  measure: (strategy: ReadStrategy) => Measured,
  wanted: Bound | undefined,
): Key {
  const all = strategies.map((strategy) => [strategy, measure(strategy)] as const)
  const isLower = wanted !== undefined && 'least' in wanted
  const measured = all.map(([, value]) => value)
  const worse = takeWorse(measured, isLower ? 'lower' : 'higher')
  return { worse, byStrategy: Object.fromEntries(all), wanted }
}

/** Computes the keys of the benchmark, in the order of the report. A key takes the strategy with the worse value. */
export function computeKeys({ rounds, memory }: ReadsResults): Readonly<Record<string, Key>> {
  const rates = (side: string, load: LoadName) =>
    rounds.map(({ loads, openMix }) =>
      load === 'openMix' ? openMix[side] : loads[side]?.[load]?.perSecond,
    )
  const serverUs = (side: string, load: LoadName) =>
    rounds.map(({ loads }) => loads[side]?.[load]?.serverUs)
  const ratios = Object.entries(ratioKeys).map(([key, { load, rival, least, strategy }]) => {
    const below = rates(rivalNames[rival], load)
    const missing = rival.startsWith('postgres') ? rivalsMissing.postgres : rivalsMissing.redis
    const of = (name: ReadStrategy) => measureRatio(rates(name, load), below, missing)
    return [key, createKey(strategy ? [strategy] : readStrategies, of, { least })] as const
  })
  const first = (name: ReadStrategy) =>
    measureRatio(serverUs(name, 'firstRequests'), serverUs(name, 'firstVisit'), noAnswer)
  const memoryOf = Object.entries(memoryKeys).map(([key, [part, wanted]]) => {
    const of = (name: ReadStrategy) => measureMedian([memory[name][part]], noAnswer)
    return [key, createKey(readStrategies, of, wanted)] as const
  })
  return {
    ...Object.fromEntries(ratios),
    first_requests_vs_warm: createKey(readStrategies, first, { most: 3 }),
    ...Object.fromEntries(memoryOf),
  }
}

/** Whether a value is within its bound. Undefined without a value or a bound. */
export function isWithin({ worse, wanted }: Key): boolean | undefined {
  if (!wanted || 'reason' in worse) return undefined
  return 'least' in wanted ? worse.value >= wanted.least : worse.value <= wanted.most
}

/** The keys as JSON: values, values of each strategy, quartiles and reasons, each by key. A key without a value is null. */
export function formatKeys(keys: Readonly<Record<string, Key>>) {
  const all = Object.entries(keys)
  const numberOf = (measured: Measured) => ('reason' in measured ? null : measured.value)
  return {
    ...Object.fromEntries(all.map(([key, { worse }]) => [key, numberOf(worse)])),
    by_strategy: Object.fromEntries(
      all.map(([key, { byStrategy }]) => [
        key,
        Object.fromEntries(
          Object.entries(byStrategy).map(([name, measured]) => [name, numberOf(measured)]),
        ),
      ]),
    ),
    quartiles: Object.fromEntries(
      all.flatMap(([key, { worse }]) => ('reason' in worse ? [] : [[key, worse.quartiles]])),
    ),
    reasons: Object.fromEntries(
      all.flatMap(([key, { worse }]) => ('reason' in worse ? [[key, worse.reason]] : [])),
    ),
  }
}
