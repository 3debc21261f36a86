import { quantile } from '../statistics.ts'
import type { ComposeResult } from './compose.ts'
import type { ComposeBefore, ComposeCpuRound } from './compose-before.ts'
import { type ReadStrategy, readStrategies } from './data.ts'
import { loadNames, type ReadResult, type SideResults } from './loads.ts'
import type { KeptMemory } from './memory.ts'

/** The results of one round, by the name of the side. */
export interface ReadsRound {
  readonly loads: Readonly<Record<string, SideResults>>
  /** Operations per second. */
  readonly mix: Readonly<Record<string, number>>
  readonly compose: Readonly<Record<string, ComposeResult>>
}

/** The results of all rounds, and of what is measured without rivals. */
export interface ReadsResults {
  readonly rounds: readonly ReadsRound[]
  readonly deliveriesPerSecond: readonly (number | undefined)[]
  readonly kept: Readonly<Record<ReadStrategy, KeptMemory>>
  readonly composeBefore: ComposeBefore
}

/** The names of the rivals. */
export interface RivalNames {
  readonly oneDocument: string
  readonly checkedApollo: string
  readonly checkedPlain: string
}

/** A value with its quartiles, or why it could not be measured. */
export type Measured =
  | { readonly value: number; readonly quartiles: readonly [number, number] }
  | { readonly reason: string }

type Read = (round: ReadsRound, side: string) => number | undefined

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

/** The strategy whose value is worse: the lower rate or the higher cost. A reason if one strategy has none. */
export function takeWorse(all: readonly Measured[], worse: 'lower' | 'higher'): Measured {
  return all.reduce((one, other) => {
    if ('reason' in one) return one
    if ('reason' in other) return other
    return (worse === 'lower') === one.value < other.value ? one : other
  })
}

const rateOf =
  (load: string): Read =>
  ({ loads }, side) =>
    loads[side]?.[load]?.perSecond
const cpuOf = (result: ReadResult | undefined) =>
  result && (result.serverUs + result.databaseUs) / 1000
const loadCpuOf =
  (load: string): Read =>
  ({ loads }, side) =>
    cpuOf(loads[side]?.[load])

const noEtag = 'The server answers no ETag, so a client cannot ask for 304.'

/**
 * Computes the keys of the benchmark. A key of Feedline takes the strategy with the worse value.
 * @param missing why a rival could not be measured.
 */
export function computeKeys(
  { rounds, deliveriesPerSecond, kept, composeBefore }: ReadsResults,
  { oneDocument, checkedApollo, checkedPlain }: RivalNames,
  missing: string,
): Readonly<Record<string, Measured>> {
  const read = (of: Read, side: string) => rounds.map((round) => of(round, side))
  const versus = (own: Read, rival: string, rivals: Read = own, reason = missing) =>
    takeWorse(
      readStrategies.map((name) => measureRatio(read(own, name), read(rivals, rival), reason)),
      'lower',
    )
  const cost = (of: Read) =>
    takeWorse(
      readStrategies.map((name) => measureMedian(read(of, name), 'no post was created')),
      'higher',
    )
  const memory = (part: keyof KeptMemory) =>
    takeWorse(
      readStrategies.map((name) =>
        measureMedian([kept[name][part]], 'the memory was not measured'),
      ),
      'higher',
    )
  const { pageUnchanged, pageChanged, pageWithCounts, poll, poll304 } = loadNames
  const page = rateOf(pageUnchanged)
  const versusBefore = (clients: keyof ComposeCpuRound): Measured => {
    if ('reason' in composeBefore) return composeBefore
    const of = (version: 'now' | 'before') =>
      composeBefore.rounds.map((round) => round[clients][version])
    return measureRatio(of('now'), of('before'), 'no post was created')
  }
  const composeRate: Read = ({ compose }, side) => compose[side]?.sixteen.perSecond
  return {
    poll_304_vs_one_document: versus(rateOf(poll304), oneDocument, page, noEtag),
    poll_nothing_new_vs_one_document: versus(rateOf(poll), oneDocument, page),
    page_unchanged_vs_one_document: versus(page, oneDocument),
    page_changed_vs_one_document: versus(rateOf(pageChanged), oneDocument),
    page_with_counts_vs_redis_checked_apollo: versus(rateOf(pageWithCounts), checkedApollo),
    page_unchanged_vs_redis_checked_plain: versus(page, checkedPlain),
    poll_304_vs_redis_checked_plain: versus(rateOf(poll304), checkedPlain, rateOf(poll), noEtag),
    poll_nothing_new_vs_redis_checked_plain: versus(rateOf(poll), checkedPlain),
    poll_vs_page_cpu: takeWorse(
      readStrategies.map((name) =>
        measureRatio(read(loadCpuOf(poll), name), read(loadCpuOf(pageUnchanged), name), missing),
      ),
      'higher',
    ),
    mix_vs_redis_checked_apollo: versus(({ mix }, side) => mix[side], checkedApollo),
    compose_cpu_alone_ms: cost(({ compose }, side) => cpuOf(compose[side]?.alone)),
    compose_cpu_sixteen_ms: cost(({ compose }, side) => cpuOf(compose[side]?.sixteen)),
    compose_cpu_vs_before_alone: versusBefore('alone'),
    compose_cpu_vs_before_sixteen: versusBefore('sixteen'),
    compose_vs_redis: versus(composeRate, checkedPlain),
    inbox_deliveries_per_second: measureMedian(
      deliveriesPerSecond,
      'a delivery stored another number of entries than the followers',
    ),
    rss_kept_mb: memory('rssMb'),
    used_kept_mb: memory('usedMb'),
  }
}

/**
 * The keys as JSON: values, quartiles and reasons, each by key. A key without a value is null. The keys of the processor
 * time of a post are also together in `compose_cpu` and `compose_cpu_vs_before`.
 */
export function formatKeys(keys: Readonly<Record<string, Measured>>) {
  const all = Object.entries(keys)
  const values = Object.fromEntries(
    all.map(([key, one]) => [key, 'reason' in one ? null : one.value]),
  )
  const { compose_cpu_alone_ms: alone_ms, compose_cpu_sixteen_ms: sixteen_ms } = values
  const { compose_cpu_vs_before_alone: alone, compose_cpu_vs_before_sixteen: sixteen } = values
  return {
    ...values,
    compose_cpu: { alone_ms, sixteen_ms },
    compose_cpu_vs_before: { alone, sixteen },
    quartiles: Object.fromEntries(
      all.flatMap(([key, one]) => ('reason' in one ? [] : [[key, one.quartiles]])),
    ),
    reasons: Object.fromEntries(
      all.flatMap(([key, one]) => ('reason' in one ? [[key, one.reason]] : [])),
    ),
  }
}
