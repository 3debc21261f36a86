import { summarize } from '../statistics.ts'
import type { Rates } from './deliveries.ts'
import { comparedStrategies, type GrowthRow } from './growth.ts'
import type { PageResults } from './pages.ts'
import type { Reed98Results } from './reed98.ts'
import { drawBarChart, drawLineChart } from './svg-charts.ts'
import type { ZipfResults } from './zipf.ts'

/** Draws the charts of all results. @returns SVG texts by file name, without extension. */
export function drawCharts(
  zipf: ZipfResults,
  reed98: Reed98Results | undefined,
  growth: readonly GrowthRow[],
): Record<string, string> {
  return {
    'feed-deliveries': drawDeliveries(zipf.rates),
    'feed-growth': drawGrowth(growth),
    ...(reed98
      ? {
          'feed-pages': drawPages('Page of 50 posts through the service', reed98.service),
          'feed-pages-http': drawPages('Page of 50 posts over HTTP', reed98.http),
        }
      : {}),
  }
}

const median = (values: readonly number[]) => summarize(values).median

function drawDeliveries(rates: Rates): string {
  const groups = ['TIME_BUCKETS', 'SIZED_BUCKETS', 'CACHE', 'INBOX'].map((label) => {
    const rival = label === 'INBOX' ? 'Socialite CACHE' : `Socialite ${label}`
    return { label, values: [median(rates[label] ?? []), median(rates[rival] ?? [])] }
  })
  const series = ['Feedline', 'Socialite (for INBOX: its cache)']
  return drawBarChart({ title: 'Deliveries', unit: 'per second', series }, groups)
}

/** Draws p50 and p99 of the first and the tenth page. */
function drawPages(title: string, rounds: readonly PageResults[]): string {
  const medianOf = (name: string, value: 'p50Ms' | 'p99Ms') =>
    median(rounds.map((loads) => loads[name]?.[value] ?? Number.NaN))
  const strategies = Object.keys(rounds[0] ?? {})
    .filter((name) => name.endsWith(' page 1'))
    .map((name) => name.replace(' page 1', ''))
  const groups = strategies.map((label) => ({
    label,
    values: [1, 10].flatMap((page) =>
      (['p50Ms', 'p99Ms'] as const).map((value) => medianOf(`${label} page ${page}`, value)),
    ),
  }))
  const series = ['page 1, p50', 'page 1, p99', 'page 10, p50', 'page 10, p99']
  return drawBarChart({ title, unit: 'ms', series }, groups)
}

function drawGrowth(growth: readonly GrowthRow[]): string {
  const rows = growth.filter(({ dimension }) => dimension === 'followed')
  const sizes = [...new Set(rows.map(({ size }) => size))]
  const lines = comparedStrategies.map((strategy) =>
    rows.filter((row) => row.strategy === strategy).map(({ time }) => time),
  )
  const chart = {
    title: 'First page by number of followees',
    unit: 'ms',
    series: comparedStrategies,
  }
  return drawLineChart(chart, sizes, lines)
}
