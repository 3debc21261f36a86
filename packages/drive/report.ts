import {
  type Chart,
  drawChart,
  escapeXml,
  linearScale,
  logScale,
  type Scale,
  type Series,
} from './charts.ts'
import { formatDrive } from './print.ts'
import { type DriveResult, exitCodeOf } from './result.ts'

const style = `
:root { color-scheme: light dark }
body { max-width: 1180px; margin: 0 auto; padding: 24px 20px; font: 14px/1.5 system-ui, sans-serif }
.charts { display: grid; gap: 20px; grid-template-columns: repeat(auto-fit, minmax(min(100%, 460px), 1fr)) }
pre { overflow-x: auto }
`

const verdicts = {
  0: 'Every feed was right',
  1: 'A feed was wrong or not verified, or no request was answered',
  2: 'Every feed was right, and the load generator was at its limit',
}

/** Renders a result as an HTML page without scripts, for light and dark screens. It loads nothing. */
export function renderReport(result: DriveResult): string {
  const { settings, versions, startedAt } = result
  const texts = [formatDrive(result), JSON.stringify({ settings, versions, startedAt }, null, 2)]
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>feedline drive, ${escapeXml(startedAt)}</title>
<style>${style}</style>
</head>
<body>
<h1>${verdicts[exitCodeOf(result)]}</h1>
<div class="charts">
${chartsOf(result).map(drawChart).join('')}</div>
${texts.map((text) => `<pre>${escapeXml(text)}</pre>`).join('\n')}
</body>
</html>
`
}

function chartsOf({ slots, slotSeconds, steps }: DriveResult): Chart[] {
  const seconds = linearScale(slots.at(-1)?.atSeconds ?? 1)
  const counts = (['offered', 'ok', 'failed', 'dropped'] as const).map((name) => ({
    name,
    points: slots.map((slot) => [slot.atSeconds, slot[name] / slotSeconds] as const),
  }))
  const highest = Math.max(...yValues(counts), 1)
  const rates = linearScale(Math.max(...steps.map(({ perSecond }) => perSecond), 1))
  return [
    {
      title: 'Arrivals, answers to them, failed requests and dropped arrivals',
      axes: ['seconds', '1/s'],
      scales: [seconds, linearScale(highest)],
      series: counts,
      isLine: true,
    },
    latencyChart('Latency over time', ['seconds', seconds], slots, ({ atSeconds }) => atSeconds),
    latencyChart('Latency by rate', ['arrivals/s', rates], steps, ({ perSecond }) => perSecond),
  ]
}

function latencyChart<Row extends { latency?: { p50Ms: number; p99Ms: number } }>(
  title: string,
  [axis, scale]: readonly [string, Scale],
  rows: readonly Row[],
  xOf: (row: Row) => number,
): Chart {
  const series = (['p50Ms', 'p99Ms'] as const).map((key) => ({
    name: key.slice(0, 3),
    points: rows.flatMap((row) => (row.latency ? [[xOf(row), row.latency[key]] as const] : [])),
  }))
  return {
    ...{ title, axes: [axis, 'ms'], series, isLine: true },
    scales: [scale, logScale(yValues(series))],
  }
}

const yValues = (series: readonly Series[]): number[] =>
  series.flatMap(({ points }) => points.map(([, y]) => y))
