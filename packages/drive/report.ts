import { escapeXml } from '../../src/lib/svg.ts'
import {
  drawLines,
  exactScale,
  type Line,
  linearScale,
  logScale,
  percentileScale,
  type Scale,
} from './charts.ts'
import { reportStyle } from './report-style.ts'
import { renderTables, renderVerdicts } from './report-tables.ts'
import type { DriveResult } from './result.ts'

/** Renders a result as an HTML page without scripts, for light and dark screens. It loads nothing. */
export function renderReport(result: DriveResult): string {
  const { settings, startedAt } = result
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>feedline drive, ${escapeXml(startedAt)}</title>
<style>${reportStyle}</style>
</head>
<body>
<header>
<h1>feedline drive</h1>
<p>${escapeXml(settings.urls.join(', '))} · ${escapeXml(startedAt)}</p>
</header>
<main>
${renderVerdicts(result)}
<div class="charts">
${renderCharts(result).join('\n')}
</div>
${renderTables(result)}
</main>
</body>
</html>
`
}

function renderCharts(result: DriveResult): string[] {
  const names = Object.keys(result.operations)
  return [
    renderRates(result),
    ...renderRamp(result),
    renderOverTime(result, names, 'p50Ms', 'Median latency over time'),
    renderOverTime(result, names, 'p99Ms', 'p99 latency over time'),
    renderCurves(result, names),
    ...renderFailures(result),
  ]
}

const figure = (title: string, chart: string): string =>
  `<figure><figcaption>${escapeXml(title)}</figcaption>\n${chart}</figure>`

function renderRates({ slots, slotSeconds }: DriveResult): string {
  const rateOf = (name: string, colour: number, count: (at: number) => number): Line => ({
    ...{ name, colour },
    points: slots.map(({ atSeconds }, at) => [atSeconds, count(at) / slotSeconds]),
  })
  const lines = [
    rateOf('offered', 5, (at) => slots[at]?.offered ?? 0),
    rateOf('answered', 2, (at) => slots[at]?.ok ?? 0),
  ]
  const title = 'Arrivals offered, and arrivals answered'
  const texts = { title, x: 'seconds', y: 'per second' }
  return figure(title, drawLines(texts, [timeScale(slots), linearScale(highest(lines))], lines))
}

/** The latency at each rate, if there are several. */
function renderRamp({ steps }: DriveResult): string[] {
  if (steps.length < 2) return []
  const lineOf = (name: string, colour: number, key: 'p50Ms' | 'p99Ms'): Line => ({
    ...{ name, colour },
    points: steps.flatMap(({ perSecond, latency }) =>
      latency ? [[perSecond, latency[key]] as const] : [],
    ),
  })
  const lines = [lineOf('p50', 0, 'p50Ms'), lineOf('p99', 4, 'p99Ms')]
  const title = 'Latency by rate'
  const scales = [
    exactScale(Math.max(...steps.map(({ perSecond }) => perSecond))),
    logScale(valuesOf(lines)),
  ] as const
  return [figure(title, drawLines({ title, x: 'offered per second', y: 'ms' }, scales, lines))]
}

function renderOverTime(
  { slots }: DriveResult,
  names: readonly string[],
  key: 'p50Ms' | 'p99Ms',
  title: string,
): string {
  const lines = names.map((name, colour) => ({
    ...{ name, colour },
    points: slots.flatMap(({ atSeconds, latencies }) => {
      const found = latencies[name]
      return found ? [[atSeconds, found[key]] as const] : []
    }),
  }))
  const scales = [timeScale(slots), logScale(valuesOf(lines))] as const
  return figure(title, drawLines({ title, x: 'seconds', y: 'ms' }, scales, lines))
}

function renderCurves({ operations, total }: DriveResult, names: readonly string[]): string {
  const percentMax = total.curve.at(-2)?.[0] || 90
  const lines = names.map((name, colour) => ({
    ...{ name, colour },
    points: (operations[name]?.curve ?? []).filter(([percent]) => percent < 100),
  }))
  const title = 'Latency by percentile'
  const scales = [percentileScale(percentMax), logScale(valuesOf(lines))] as const
  return figure(title, drawLines({ title, x: 'percentile', y: 'ms' }, scales, lines))
}

/** What was not answered, if anything. */
function renderFailures({ slots, slotSeconds }: DriveResult): string[] {
  if (slots.every(({ failed, dropped }) => failed + dropped === 0)) return []
  const lineOf = (name: 'failed' | 'dropped', colour: number): Line => ({
    ...{ name, colour },
    points: slots.map((slot) => [slot.atSeconds, slot[name] / slotSeconds]),
  })
  const lines = [lineOf('failed', 4), lineOf('dropped', 5)]
  const title = 'Requests that failed, and arrivals that the generator dropped'
  const scales = [timeScale(slots), linearScale(highest(lines))] as const
  return [figure(title, drawLines({ title, x: 'seconds', y: 'per second' }, scales, lines))]
}

const timeScale = (slots: DriveResult['slots']): Scale => exactScale(slots.at(-1)?.atSeconds ?? 1)
const valuesOf = (lines: readonly Line[]): number[] =>
  lines.flatMap(({ points }) => points.map(([, y]) => y))
const highest = (lines: readonly Line[]): number => Math.max(1, ...valuesOf(lines))
