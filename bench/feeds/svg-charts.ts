import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { colourOf, escapeXml, formatShort, px, renderText, roundUp } from '../../src/lib/svg.ts'

/** A group of bars, one per series. */
export interface BarGroup {
  readonly label: string
  readonly values: readonly number[]
}

/** The texts of a chart. */
export interface Chart {
  readonly title: string
  readonly unit: string
  readonly series: readonly string[]
}

const width = 720
const height = 320
const frame = { left: 70, right: 16, top: 64, bottom: 36 }
const plotWidth = width - frame.left - frame.right
const plotHeight = height - frame.top - frame.bottom
/** Draws grouped bars with their values above them. @returns SVG. */
export function drawBarChart(chart: Chart, groups: readonly BarGroup[]): string {
  const scale = linearScale(Math.max(...groups.flatMap(({ values }) => values)))
  const groupWidth = plotWidth / groups.length
  const barWidth = (groupWidth * 0.8) / chart.series.length
  const bars = groups.flatMap(({ label, values }, group) => {
    const left = frame.left + group * groupWidth + groupWidth * 0.1
    const middle = frame.left + (group + 0.5) * groupWidth
    return [
      ...values.map((value, at) => {
        const [x, y] = [left + at * barWidth, scale.y(value)]
        const barHeight = frame.top + plotHeight - y
        return (
          `<rect x="${px(x)}" y="${px(y)}" width="${px(barWidth - 2)}" height="${px(barHeight)}" fill="${colourOf(at)}"/>` +
          renderText([x + barWidth / 2 - 1, y - 4], formatShort(value), 'middle', 'small')
        )
      }),
      renderText([middle, height - 14], label, 'middle'),
    ]
  })
  return renderSvg(chart, scale, bars)
}

/** Draws one line per series over a logarithmic axis. @returns SVG. */
export function drawLineChart(
  chart: Chart,
  xs: readonly number[],
  lines: readonly (readonly number[])[],
): string {
  const scale = linearScale(Math.max(...lines.flat()))
  const [low, high] = [Math.log(xs[0] ?? 1), Math.log(xs.at(-1) ?? 1)]
  const xOf = (x: number) =>
    frame.left + 12 + ((Math.log(x) - low) / (high - low || 1)) * (plotWidth - 36)
  const polylines = lines.map((values, at) => {
    const points = values.map((value, place) => [xOf(xs[place] ?? 1), scale.y(value)] as const)
    const path = points.map(([x, y]) => `${px(x)},${px(y)}`).join(' ')
    const dots = points.map(
      ([x, y]) => `<circle cx="${px(x)}" cy="${px(y)}" r="3" fill="${colourOf(at)}"/>`,
    )
    return `<polyline points="${path}" fill="none" stroke="${colourOf(at)}" stroke-width="2"/>${dots.join('')}`
  })
  const labels = xs.map((x) => renderText([xOf(x), height - 14], x.toLocaleString('en'), 'middle'))
  return renderSvg(chart, scale, [...polylines, ...labels])
}

/** Writes charts as `NAME.svg`. @returns the paths. */
export async function writePlots(folder: string, plots: Readonly<Record<string, string>>) {
  await mkdir(folder, { recursive: true })
  return Promise.all(
    Object.entries(plots).map(async ([name, content]) => {
      const path = join(folder, `${name}.svg`)
      await writeFile(path, content)
      return path
    }),
  )
}

interface Scale {
  readonly ticks: readonly number[]
  y(value: number): number
}

/** A linear scale from 0 to a round number, in four steps. */
function linearScale(max: number): Scale {
  const top = roundUp(max)
  return {
    ticks: [0, 1, 2, 3, 4].map((step) => (top * step) / 4),
    y: (value) => frame.top + plotHeight * (1 - value / top),
  }
}

function renderSvg(
  { title, unit, series }: Chart,
  scale: Scale,
  content: readonly string[],
): string {
  const grid = scale.ticks.map((tick) => {
    const y = px(scale.y(tick))
    return (
      `<line x1="${frame.left}" x2="${width - frame.right}" y1="${y}" y2="${y}"/>` +
      renderText([frame.left - 8, scale.y(tick) + 4], formatShort(tick), 'end')
    )
  })
  let x = frame.left
  const legend = series.map((name, at) => {
    const item =
      `<rect x="${px(x)}" y="36" width="10" height="10" fill="${colourOf(at)}"/>` +
      renderText([x + 15, 45], name, 'start')
    x += 34 + name.length * 8
    return item
  })
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-label="${escapeXml(title)}">`,
    '<style>text{font:12px system-ui,sans-serif;fill:#333}.title{font-size:15px;font-weight:600}.small{font-size:10px}',
    'line{stroke:#8886}@media(prefers-color-scheme:dark){text{fill:#ddd}}</style>',
    renderText([frame.left, 22], `${title}, ${unit}`, 'start', 'title'),
    ...legend,
    ...grid,
    ...content,
    '</svg>\n',
  ].join('\n')
}
