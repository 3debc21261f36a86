import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { drawChart, linearScale, nameScale } from '../feeds/charts.ts'
import type { medianRows } from './report.ts'
import type { RowName } from './rows.ts'

/** What each chart shows of all sides, with short names of rows. */
const charts = {
  pages: {
    title: 'Pages and mixes',
    rows: {
      ...{ page_first_visit: 'first visit', page_second_visit: 'second visit' },
      ...{ page_random_warm: 'at random', page_changed: 'changed' },
      ...{ mix: 'mix', mix_two_processes: 'mix, two processes' },
    },
  },
  polls: { title: 'Polls', rows: { poll_304: 'nothing new', poll_one_new: 'one new post' } },
  writes: {
    title: 'Posts, likes and follows',
    rows: {
      ...{ post_40: 'post to 40', post_2000: 'post to 2,000' },
      ...{ like_spread: 'like', follow_spread: 'follow' },
    },
  },
} as const satisfies Record<string, { title: string; rows: Partial<Record<RowName, string>> }>

/**
 * Draws requests per second, the median of all rounds. @returns the SVG of each chart by its name.
 */
export function drawReadsCharts(
  medians: ReturnType<typeof medianRows>,
): Readonly<Record<keyof typeof charts, string>> {
  const drawn = Object.entries(charts).map(([name, { title, rows }]) => {
    const names = Object.keys(rows) as RowName[]
    const sides = [...new Set(names.flatMap((row) => Object.keys(medians[row] ?? {})))]
    const series = Object.entries<string>(rows).map(([row, label]) => ({
      name: label,
      points: sides.flatMap((side, x) => {
        const rate = medians[row as RowName]?.[side]?.perSecond
        return rate === undefined ? [] : [[x, rate] as const]
      }),
    }))
    const highest = Math.max(0, ...series.flatMap(({ points }) => points.map(([, y]) => y)))
    const chart = drawChart({
      ...{ title, axes: ['', 'per second'], isLine: false, series },
      scales: [nameScale(sides), linearScale(highest)],
    })
    return [name, chart]
  })
  return Object.fromEntries(drawn)
}

/** Writes the charts as `NAME.svg`. @returns the paths. */
export async function writeReadsCharts(
  folder: string,
  medians: ReturnType<typeof medianRows>,
): Promise<string[]> {
  await mkdir(folder, { recursive: true })
  return Promise.all(
    Object.entries(drawReadsCharts(medians)).map(async ([name, content]) => {
      const path = join(folder, `${name}.svg`)
      await writeFile(path, content)
      return path
    }),
  )
}
