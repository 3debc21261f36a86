import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { summarize } from '../statistics.ts'
import { drawChart, linearScale, logScale, nameScale } from './charts.ts'
import type { Rates } from './deliveries.ts'
import { comparedStrategies, type GrowthRow } from './growth.ts'
import type { ZipfResults } from './zipf.ts'

/** Writes the charts of all results as `NAME.svg`. @returns the paths. */
export async function writeCharts(
  folder: string,
  zipf: ZipfResults,
  growth: readonly GrowthRow[],
): Promise<string[]> {
  const charts = {
    'feed-deliveries': drawDeliveries(zipf.rates),
    'feed-growth': drawGrowth(growth),
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
