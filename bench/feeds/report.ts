import type { LoadResult } from '../load.ts'
import { formatSummary, type Summary, summarize } from '../statistics.ts'
import type { CreatePostLatencies } from './create-post.ts'
import type { Rates } from './deliveries.ts'
import type { ServerLoadResult } from './http.ts'
import { type Audience, audiences, type InboxRound } from './inbox-deliveries.ts'
import type { MixedWorkloadResult } from './mixed-workload-rounds.ts'
import type { PageResults } from './pages.ts'
import type { HttpResults } from './pages-http.ts'
import type { Reed98Results } from './reed98.ts'
import type { ZipfResults } from './zipf.ts'

/** Ratios by name, one value per round. */
export type Ratios = Readonly<Record<string, readonly number[]>>

/** Computes all ratios of the benchmark. */
export function computeRatios(zipf: ZipfResults, reed98: Reed98Results | undefined): Ratios {
  return {
    ...computeDeliveryRatios({ zipf: zipf.rates, ...(reed98 ? { reed98: reed98.rates } : {}) }),
    ...(reed98 ? computePageRatios(reed98) : {}),
    create_post_p99_20k_vs_10: zipf.create.map(({ celebrity, ten }) => celebrity.p99Ms / ten.p99Ms),
  }
}

/**
 * Deliveries by a worker over bare inserts of the same documents: of each audience, and the lower
 * one.
 */
export function computeInboxRatios(rounds: readonly InboxRound[]): Ratios {
  const of = (audience: Audience) =>
    rounds.map(({ [audience]: { workers, bareInsert } }) => workers / bareInsert)
  const [small, large] = [of('30'), of('100k')]
  return {
    inbox_deliveries_vs_bare_insert: medianOf(small) < medianOf(large) ? small : large,
    inbox_deliveries_vs_bare_insert_30: small,
    inbox_deliveries_vs_bare_insert_100k: large,
  }
}

const deliveryRivals = {
  inbox_deliveries_vs_socialite_cache: ['INBOX', 'Socialite CACHE'],
  cache_deliveries_vs_socialite_cache: ['CACHE', 'Socialite CACHE'],
  time_buckets_deliveries_vs_socialite: ['TIME_BUCKETS', 'Socialite TIME_BUCKETS'],
  sized_buckets_deliveries_vs_socialite: ['SIZED_BUCKETS', 'Socialite SIZED_BUCKETS'],
} as const

/** Computes each ratio on each graph. The ratio without a graph in its name is the lower one. */
function computeDeliveryRatios(graphs: Readonly<Record<string, Rates>>): Ratios {
  const ratios: Record<string, readonly number[]> = {}
  const addRatio = (name: string, of: (rates: Rates) => readonly number[]) => {
    const byGraph = Object.entries(graphs).map(([graph, rates]) => [graph, of(rates)] as const)
    const byMedian = byGraph.map(([, values]) => values).sort((a, b) => medianOf(a) - medianOf(b))
    ratios[name] = byMedian[0] ?? []
    for (const [graph, values] of byGraph) ratios[`${name}_${graph}`] = values
  }
  for (const [name, [feedline, socialite]] of Object.entries(deliveryRivals)) {
    addRatio(name, (rates) => divideByRound(rates[feedline], rates[socialite]))
  }
  addRatio('inbox_deliveries_per_second', (rates) => rates.INBOX ?? [])
  return ratios
}

const divideByRound = (a: readonly number[] = [], b: readonly number[] = []) =>
  a.map((value, round) => value / (b[round] ?? Number.NaN))

function computePageRatios({ http, mix }: Reed98Results): Ratios {
  const cpu = (strategy: string) =>
    http.map((loads) => cpuOf(loads, `${strategy} page 1`) / cpuOf(loads, `bare ${strategy}`))
  const best = mix.map((systems) => Math.max(systems.CACHE.perSecond, systems.INBOX.perSecond))
  return {
    cache_page_vs_bare: cpu('CACHE'),
    inbox_page_vs_bare: cpu('INBOX'),
    mix_vs_socialite_cache: divideByRound(
      best,
      mix.map((systems) => systems['Socialite CACHE'].perSecond),
    ),
  }
}

const cpuOf = (loads: HttpResults, name: string) => loads[name]?.cpuUs ?? Number.NaN
const medianOf = (values: readonly number[]) => summarize(values).median

type Row = readonly string[]

/** Formats a Markdown table. */
export function formatTable(head: Row, rows: readonly Row[]): string {
  const line = (cells: Row) => `| ${cells.join(' | ')} |`
  return `${[line(head), `|${'---|'.repeat(head.length)}`, ...rows.map(line)].join('\n')}\n`
}

const formatDecimals = (values: readonly number[], digits: number) =>
  formatSummary(summarize(values), digits)
const formatThousands = ({ median, min, max }: Summary) =>
  [median, min, max].map((value) => Math.round(value).toLocaleString('en'))
const formatIntegers = (values: readonly number[]) => {
  const [median, min, max] = formatThousands(summarize(values))
  return `${median} (${min}–${max})`
}

export const formatRatioTable = (ratios: Ratios): string =>
  formatTable(
    ['ratio', 'median (least–most)'],
    Object.entries(ratios).map(([name, values]) => [
      `\`${name}\``,
      name.includes('per_second') ? formatIntegers(values) : formatDecimals(values, 2),
    ]),
  )

/** Formats entries per second by audience, with what each side promises. */
export const formatInboxTable = (rounds: readonly InboxRound[]): string =>
  formatTable(
    ['INBOX entries/s', ...audiences.map((name) => `audience of ${name}`), 'promise'],
    (
      [
        ['workers', 'by a worker', 'durable, each follower once, also after a crash'],
        ['bareInsert', 'bare inserts', 'durable'],
      ] as const
    ).map(([side, label, promise]) => [
      label,
      ...audiences.map((name) => formatIntegers(rounds.map((round) => round[name][side]))),
      promise,
    ]),
  )

/** Formats deliveries per second on each graph. */
export const formatDeliveryTable = (graphs: Readonly<Record<string, Rates>>): string =>
  formatTable(
    ['deliveries/s', ...Object.keys(graphs)],
    Object.keys(Object.values(graphs)[0] ?? {}).map((name) => [
      name,
      ...Object.values(graphs).map((rates) => formatIntegers(rates[name] ?? [])),
    ]),
  )

/** Formats the latency of createPost by the number of followers. */
export const formatCreatePostTable = (rounds: readonly CreatePostLatencies[]): string =>
  formatTable(
    ['createPost with followers', 'p50, ms', 'p99, ms'],
    (
      [
        ['10', 'ten'],
        ['1,000', 'thousand'],
        ['20,000', 'celebrity'],
      ] as const
    ).map(([label, author]) => [
      label,
      formatDecimals(
        rounds.map((times) => times[author].p50Ms),
        1,
      ),
      formatDecimals(
        rounds.map((times) => times[author].p99Ms),
        1,
      ),
    ]),
  )

const rowNames = (rounds: readonly Readonly<Record<string, unknown>>[]) =>
  Object.keys(rounds[0] ?? {})

const valuesPerRound = <L extends LoadResult>(
  rounds: readonly Readonly<Record<string, L>>[],
  name: string,
  of: (load: L) => number,
) => rounds.map((loads) => (loads[name] ? of(loads[name]) : Number.NaN))

/** Formats throughput and latency of pages through the service. */
export const formatServiceTable = (rounds: readonly PageResults[]): string =>
  formatTable(
    ['service, 8 clients', 'pages/s', 'p50, ms', 'p99, ms'],
    rowNames(rounds).map((name) => [
      name,
      formatIntegers(valuesPerRound(rounds, name, ({ perSecond }) => perSecond)),
      formatDecimals(
        valuesPerRound(rounds, name, ({ p50Ms }) => p50Ms),
        1,
      ),
      formatDecimals(
        valuesPerRound(rounds, name, ({ p99Ms }) => p99Ms),
        1,
      ),
    ]),
  )

/** Formats throughput and latency of pages over HTTP, and of the bare handlers. */
export const formatHttpTable = (rounds: readonly HttpResults[]): string =>
  formatTable(
    ['HTTP, 16 connections', 'requests/s', 'p50, ms', 'p99, ms', 'CPU a request, µs', 'bytes'],
    rowNames(rounds).map((name) => [
      name,
      formatIntegers(valuesPerRound(rounds, name, ({ perSecond }) => perSecond)),
      formatDecimals(
        valuesPerRound(rounds, name, ({ p50Ms }) => p50Ms),
        1,
      ),
      formatDecimals(
        valuesPerRound(rounds, name, ({ p99Ms }) => p99Ms),
        1,
      ),
      formatIntegers(valuesPerRound(rounds, name, ({ cpuUs }: ServerLoadResult) => cpuUs)),
      String(rounds.at(-1)?.[name]?.bytes ?? ''),
    ]),
  )

/** Formats the maximum throughput of each system under the mixed workload. */
export const formatMixTable = (rounds: readonly MixedWorkloadResult[]): string =>
  formatTable(
    ['mix', 'operations/s held', 'p99, ms', 'post to visible p99, ms'],
    (rowNames(rounds) as (keyof MixedWorkloadResult)[]).map((system) => [
      system,
      formatIntegers(rounds.map((systems) => systems[system].perSecond)),
      formatDecimals(
        rounds.map((systems) => systems[system].at?.load.p99Ms ?? Number.NaN),
        1,
      ),
      formatDecimals(
        rounds.map((systems) => systems[system].at?.visibleP99Ms ?? Number.NaN),
        0,
      ),
    ]),
  )
