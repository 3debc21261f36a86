import { spreadOf } from '../drive.ts'
import type { Rates } from './deliveries.ts'
import { compared, type Growth } from './growth.ts'
import type { PageLoads } from './pages.ts'
import { barChart, lineChart } from './plots.ts'
import type { ReedResults } from './reed.ts'
import type { ZipfResults } from './zipf.ts'

/** The plots of all results, by file name. */
export function drawAll(
  zipf: ZipfResults,
  reed: ReedResults | undefined,
  growth: readonly Growth[],
): Record<string, string> {
  return {
    'feed-deliveries': drawDeliveries(zipf.rates),
    'feed-growth': drawGrowth(growth),
    ...(reed
      ? {
          'feed-pages': drawPages('A page of 50 through the service', reed.service),
          'feed-pages-http': drawPages('A page of 50 over HTTP', reed.http),
        }
      : {}),
  }
}

const median = (values: readonly number[]) => spreadOf(values).median

function drawDeliveries(rates: Rates): string {
  const groups = ['TIME_BUCKETS', 'SIZED_BUCKETS', 'CACHE', 'INBOX'].map((label) => {
    const theirs = label === 'INBOX' ? 'Socialite CACHE' : `Socialite ${label}`
    return { label, values: [median(rates[label] ?? []), median(rates[theirs] ?? [])] }
  })
  const series = ['Feedline', "Socialite's way (beside INBOX: its cache)"]
  return barChart({ title: 'Deliveries', unit: 'a second', series }, groups)
}

/** p50 and p99 of the first and the tenth page. */
function drawPages(title: string, rounds: readonly PageLoads[]): string {
  const of = (name: string, value: 'p50Ms' | 'p99Ms') =>
    median(rounds.map((loads) => loads[name]?.[value] ?? Number.NaN))
  const strategies = Object.keys(rounds[0] ?? {})
    .filter((name) => name.endsWith(' page 1'))
    .map((name) => name.replace(' page 1', ''))
  const groups = strategies.map((label) => ({
    label,
    values: [1, 10].flatMap((page) =>
      (['p50Ms', 'p99Ms'] as const).map((value) => of(`${label} page ${page}`, value)),
    ),
  }))
  const series = ['page 1, p50', 'page 1, p99', 'page 10, p50', 'page 10, p99']
  return barChart({ title, unit: 'ms', series }, groups)
}

function drawGrowth(growth: readonly Growth[]): string {
  const rows = growth.filter(({ what }) => what === 'followed')
  const sizes = [...new Set(rows.map(({ size }) => size))]
  const lines = compared.map((strategy) =>
    rows.filter((row) => row.strategy === strategy).map(({ time }) => time),
  )
  const chart = { title: 'A first page by the number followed', unit: 'ms', series: compared }
  return lineChart(chart, sizes, lines)
}
