import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { summarize } from '../statistics.ts'
import { drawChart, linearScale, logScale, nameScale } from './charts.ts'
import type { Rates } from './deliveries.ts'
import { comparedStrategies, type GrowthRow } from './growth.ts'
import type { PageResults } from './pages.ts'
import type { Reed98Results } from './reed98.ts'
import type { ZipfResults } from './zipf.ts'

/** Writes the charts of all results as `NAME.svg`. @returns the paths. */
export async function writeCharts(
  folder: string,
  zipf: ZipfResults,
  reed98: Reed98Results | undefined,
  growth: readonly GrowthRow[],
): Promise<string[]> {
  const charts = {
    'feed-deliveries': drawDeliveries(zipf.rates),
    'feed-growth': drawGrowth(growth),
    ...(reed98 && {
      'feed-pages': drawPages('Page of 50 posts through the service', reed98.service),
      'feed-pages-http': drawPages('Page of 50 posts over HTTP', reed98.http),
    }),
  }
  await mkdir(folder, { recursive: true })
  return Promise.all(
    Object.entries(charts).map(async ([name, content]) => {
      const path = join(folder, `${name}.svg`)
      await writeFile(path, content)
      return path
    }),
  )
}

const median = (values: readonly number[]) => summarize(values).median

function drawDeliveries(rates: Rates): string {
  const strategies = ['TIME_BUCKETS', 'SIZED_BUCKETS', 'CACHE', 'INBOX']
  const rivals = strategies.map((name) => `Socialite ${name === 'INBOX' ? 'CACHE' : name}`)
  const medians = (names: readonly string[]) => names.map((name) => median(rates[name] ?? []))
  return drawByStrategy('Deliveries', 'per second', strategies, {
    Feedline: medians(strategies),
    'Socialite (INBOX: cache)': medians(rivals),
  })
}

/** Draws p50 and p99 of the first and the tenth page. */
function drawPages(title: string, rounds: readonly PageResults[]): string {
  const medianOf = (name: string, value: 'p50Ms' | 'p99Ms') =>
    median(rounds.map((loads) => loads[name]?.[value] ?? Number.NaN))
  const strategies = Object.keys(rounds[0] ?? {})
    .filter((name) => name.endsWith(' page 1'))
    .map((name) => name.replace(' page 1', ''))
  const series = [1, 10].flatMap((page) =>
    (['p50Ms', 'p99Ms'] as const).map((value) => [
      `page ${page}, ${value.slice(0, 3)}`,
      strategies.map((name) => medianOf(`${name} page ${page}`, value)),
    ]),
  )
  return drawByStrategy(title, 'ms', strategies, Object.fromEntries(series))
}

function drawByStrategy(
  title: string,
  unit: string,
  strategies: readonly string[],
  values: Readonly<Record<string, readonly number[]>>,
): string {
  return drawChart({
    ...{ title, axes: ['', unit], isLine: false },
    scales: [nameScale(strategies), linearScale(Math.max(...Object.values(values).flat()))],
    series: Object.entries(values).map(([name, ys]) => ({
      ...{ name, points: ys.map((y, x) => [x, y] as const) },
    })),
  })
}

function drawGrowth(growth: readonly GrowthRow[]): string {
  const rows = growth.filter(({ dimension }) => dimension === 'followed')
  const series = comparedStrategies.map((name) => ({
    name,
    points: rows
      .filter(({ strategy }) => strategy === name)
      .map(({ size, time }) => [size, time] as const),
  }))
  return drawChart({
    title: 'First page by number of followees',
    axes: ['followees', 'ms'],
    scales: [
      logScale(rows.map(({ size }) => size)),
      linearScale(Math.max(...rows.map(({ time }) => time))),
    ],
    ...{ series, isLine: true },
  })
}
