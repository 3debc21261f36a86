import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { drawChart, linearScale, nameScale } from '../feeds/charts.ts'
import { quantile } from '../statistics.ts'
import type { ReadsRound } from './keys.ts'
import { rivalNames } from './rival-names.ts'
import { type LoadName, loadNames } from './side.ts'

/** What each chart shows of all sides. */
const charts = {
  pages: { title: 'Pages and mixes', loads: ['mix', 'firstVisit', 'changed', 'kept'] },
  polls: { title: 'Polls', loads: ['poll304', 'pollNews'] },
  writes: { title: 'Posts to about forty followers', loads: ['compose'] },
} as const satisfies Record<string, { title: string; loads: readonly LoadName[] }>

/** The sides by the short names below a chart. */
const shortNames: Readonly<Record<string, string>> = {
  [rivalNames.postgresApollo]: 'PG, Apollo',
  [rivalNames.postgresPlain]: 'PG, http',
  [rivalNames.redisApollo]: 'Redis, Apollo',
  [rivalNames.redisPlain]: 'Redis, http',
  [rivalNames.bareGrouped]: 'bare driver',
}
const legends: Readonly<Partial<Record<LoadName, string>>> = {
  ...{
    mix: 'mix, 6 : 1',
    firstVisit: 'first visit',
    changed: 'changed',
    kept: 'kept, with counts',
  },
}

/** Draws requests per second, the median of all rounds. @returns the SVG of each chart by its name. */
export function drawReadsCharts(
  rounds: readonly Pick<ReadsRound, 'loads'>[],
): Readonly<Record<keyof typeof charts, string>> {
  const rateOf = (side: string, load: LoadName) => {
    const rates = rounds.flatMap(({ loads }) => loads[side]?.[load]?.perSecond ?? [])
    return rates.length === 0 ? undefined : quantile(rates, 0.5)
  }
  const drawn = Object.entries(charts).map(([name, { title, loads }]) => {
    const sides = Object.keys(rounds[0]?.loads ?? {}).filter((side) =>
      loads.some((load) => rateOf(side, load) !== undefined),
    )
    const series = loads.map((load) => ({
      name: legends[load] ?? loadNames[load],
      points: sides.flatMap((side, x) => {
        const rate = rateOf(side, load)
        return rate === undefined ? [] : [[x, rate] as const]
      }),
    }))
    const highest = Math.max(0, ...series.flatMap(({ points }) => points.map(([, y]) => y)))
    const labels = sides.map((side) => shortNames[side] ?? side)
    const chart = drawChart({
      ...{ title, axes: ['', 'per second'], isLine: false, series },
      scales: [nameScale(labels), linearScale(highest)],
    })
    return [name, chart]
  })
  return Object.fromEntries(drawn)
}

/** Writes the charts as `NAME.svg`. @returns the paths. */
export async function writeReadsCharts(
  folder: string,
  rounds: readonly ReadsRound[],
): Promise<string[]> {
  await mkdir(folder, { recursive: true })
  return Promise.all(
    Object.entries(drawReadsCharts(rounds)).map(async ([name, content]) => {
      const path = join(folder, `${name}.svg`)
      await writeFile(path, content)
      return path
    }),
  )
}
