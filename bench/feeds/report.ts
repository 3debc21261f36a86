import { type Load, type Spread, showSpread, spreadOf } from '../drive.ts'
import type { CreateTimes } from './create-post.ts'
import type { Rates } from './deliveries.ts'
import type { ServerLoad } from './http.ts'
import type { MixResult } from './mix-rounds.ts'
import type { PageLoads } from './pages.ts'
import type { HttpLoads } from './pages-http.ts'
import type { ReedResults } from './reed.ts'
import type { ZipfResults } from './zipf.ts'

/** Ratios by name, a value a round. */
export type Ratios = Readonly<Record<string, readonly number[]>>

/** Every ratio that the benchmark is for. */
export function ratiosOf(zipf: ZipfResults, reed: ReedResults | undefined): Ratios {
  return {
    ...deliveryRatios({ zipf: zipf.rates, ...(reed ? { reed98: reed.rates } : {}) }),
    ...(reed ? pageRatios(reed) : {}),
    create_post_p99_20k_vs_10: zipf.create.map(({ celebrity, ten }) => celebrity.p99Ms / ten.p99Ms),
  }
}

const deliveries = {
  inbox_deliveries_vs_socialite_cache: ['INBOX', 'Socialite CACHE'],
  cache_deliveries_vs_socialite_cache: ['CACHE', 'Socialite CACHE'],
  time_buckets_deliveries_vs_socialite: ['TIME_BUCKETS', 'Socialite TIME_BUCKETS'],
  sized_buckets_deliveries_vs_socialite: ['SIZED_BUCKETS', 'Socialite SIZED_BUCKETS'],
} as const

/** Each on every graph, and under its plain name on the one where it is lowest. */
function deliveryRatios(graphs: Readonly<Record<string, Rates>>): Ratios {
  const ratios: Record<string, readonly number[]> = {}
  const keep = (name: string, of: (rates: Rates) => readonly number[]) => {
    const each = Object.entries(graphs).map(([graph, rates]) => [graph, of(rates)] as const)
    const byMedian = each.map(([, values]) => values).sort((a, b) => medianOf(a) - medianOf(b))
    ratios[name] = byMedian[0] ?? []
    for (const [graph, values] of each) ratios[`${name}_${graph}`] = values
  }
  for (const [name, [ours, theirs]] of Object.entries(deliveries)) {
    keep(name, (rates) => quotients(rates[ours], rates[theirs]))
  }
  keep('inbox_deliveries_per_second', (rates) => rates.INBOX ?? [])
  return ratios
}

const quotients = (a: readonly number[] = [], b: readonly number[] = []) =>
  a.map((value, round) => value / (b[round] ?? Number.NaN))

function pageRatios({ http, mix }: ReedResults): Ratios {
  const cpu = (strategy: string) =>
    http.map((loads) => cpuOf(loads, `${strategy} page 1`) / cpuOf(loads, `bare ${strategy}`))
  const rate = (name: string) =>
    http.map((loads) => rateOf(loads, `${name} page 1`) / rateOf(loads, 'one document'))
  const best = mix.map((ways) => Math.max(ways.CACHE.knee, ways.INBOX.knee))
  return {
    cache_page_vs_bare: cpu('CACHE'),
    inbox_page_vs_bare: cpu('INBOX'),
    cache_http_page_vs_one_document: rate('CACHE'),
    inbox_http_page_vs_one_document: rate('INBOX'),
    mix_vs_socialite_cache: quotients(
      best,
      mix.map((ways) => ways['Socialite CACHE'].knee),
    ),
  }
}

const cpuOf = (loads: HttpLoads, name: string) => loads[name]?.cpuUs ?? Number.NaN
const rateOf = (loads: HttpLoads, name: string) => loads[name]?.perSecond ?? Number.NaN
const medianOf = (values: readonly number[]) => spreadOf(values).median

type Row = readonly string[]

/** A Markdown table. */
export function table(head: Row, rows: readonly Row[]): string {
  const line = (cells: Row) => `| ${cells.join(' | ')} |`
  return `${[line(head), `|${'---|'.repeat(head.length)}`, ...rows.map(line)].join('\n')}\n`
}

const shown = (values: readonly number[], digits: number) => showSpread(spreadOf(values), digits)
const grouped = ({ median, min, max }: Spread) =>
  [median, min, max].map((value) => Math.round(value).toLocaleString('en'))
const rounded = (values: readonly number[]) => {
  const [median, min, max] = grouped(spreadOf(values))
  return `${median} (${min}–${max})`
}

export const ratioTable = (ratios: Ratios): string =>
  table(
    ['ratio', 'median (least–most)'],
    Object.entries(ratios).map(([name, values]) => [
      `\`${name}\``,
      name.includes('per_second') ? rounded(values) : shown(values, 2),
    ]),
  )

/** Deliveries a second on each graph. */
export const deliveryTable = (graphs: Readonly<Record<string, Rates>>): string =>
  table(
    ['deliveries/s', ...Object.keys(graphs)],
    Object.keys(Object.values(graphs)[0] ?? {}).map((name) => [
      name,
      ...Object.values(graphs).map((rates) => rounded(rates[name] ?? [])),
    ]),
  )

/** The author's wait by the number of followers. */
export const createTable = (rounds: readonly CreateTimes[]): string =>
  table(
    ['createPost with followers', 'p50, ms', 'p99, ms'],
    (
      [
        ['10', 'ten'],
        ['1,000', 'thousand'],
        ['20,000', 'celebrity'],
      ] as const
    ).map(([label, author]) => [
      label,
      shown(
        rounds.map((times) => times[author].p50Ms),
        1,
      ),
      shown(
        rounds.map((times) => times[author].p99Ms),
        1,
      ),
    ]),
  )

const namesOf = (rounds: readonly Readonly<Record<string, unknown>>[]) =>
  Object.keys(rounds[0] ?? {})

const each = <L extends Load>(
  rounds: readonly Readonly<Record<string, L>>[],
  name: string,
  of: (load: L) => number,
) => rounds.map((loads) => (loads[name] ? of(loads[name]) : Number.NaN))

/** Pages read through the service. */
export const serviceTable = (rounds: readonly PageLoads[]): string =>
  table(
    ['service, 8 clients', 'pages/s', 'p50, ms', 'p99, ms'],
    namesOf(rounds).map((name) => [
      name,
      rounded(each(rounds, name, ({ perSecond }) => perSecond)),
      shown(
        each(rounds, name, ({ p50Ms }) => p50Ms),
        1,
      ),
      shown(
        each(rounds, name, ({ p99Ms }) => p99Ms),
        1,
      ),
    ]),
  )

/** Pages over HTTP, beside bare handlers. */
export const httpTable = (rounds: readonly HttpLoads[]): string =>
  table(
    ['HTTP, 16 connections', 'requests/s', 'p50, ms', 'p99, ms', 'CPU a request, µs', 'bytes'],
    namesOf(rounds).map((name) => [
      name,
      rounded(each(rounds, name, ({ perSecond }) => perSecond)),
      shown(
        each(rounds, name, ({ p50Ms }) => p50Ms),
        1,
      ),
      shown(
        each(rounds, name, ({ p99Ms }) => p99Ms),
        1,
      ),
      rounded(each(rounds, name, ({ cpuUs }: ServerLoad) => cpuUs)),
      String(rounds.at(-1)?.[name]?.bytes ?? ''),
    ]),
  )

/** What each way of the mix holds out. */
export const mixTable = (rounds: readonly MixResult[]): string =>
  table(
    ['mix', 'operations/s held', 'p99, ms', 'post to visible p99, ms'],
    (namesOf(rounds) as (keyof MixResult)[]).map((way) => [
      way,
      rounded(rounds.map((ways) => ways[way].knee)),
      shown(
        rounds.map((ways) => ways[way].at?.load.p99Ms ?? Number.NaN),
        1,
      ),
      shown(
        rounds.map((ways) => ways[way].at?.visibleP99Ms ?? Number.NaN),
        0,
      ),
    ]),
  )
