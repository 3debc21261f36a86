/** A series of a chart. A gap between two points is drawn through. */
export interface Series {
  readonly name: string
  readonly points: readonly (readonly [x: number, y: number])[]
}

/** Places values on an axis. */
export interface Scale {
  /** The place of a value, from 0 to 1. */
  readonly place: (value: number) => number
  readonly ticks: readonly { readonly value: number; readonly label: string }[]
}

/** What a chart says and shows. */
export interface Chart {
  readonly title: string
  /** What the axes are, with their units. */
  readonly axes: readonly [x: string, y: string]
  readonly scales: readonly [x: Scale, y: Scale]
  readonly series: readonly Series[]
  /** Whether points are joined. */
  readonly isLine: boolean
}

const [width, height] = [720, 310]
const frame = { left: 58, right: 14, top: 66, bottom: 40 }
const plot = { width: width - frame.left - frame.right, height: height - frame.top - frame.bottom }
/** How many ticks an axis has at most, and a logarithmic one with more than powers of ten. */
const [ticksMax, logTicksMax] = [8, 10]
const roundNumbers = Array.from({ length: 12 }, (_, at) => 10 ** (at - 4)).flatMap((power) => [
  ...[power, 2 * power, 5 * power],
])
/** Colours that are distinct for colour-blind readers, on white and on black. */
const colours = ['#2f7ed8', '#d55e00', '#009e73', '#8a8a8a', '#e69f00', '#cc79a7', '#56b4e9']
const style =
  '<style>svg text{font:12px system-ui,sans-serif;fill:#333}svg .title{font-size:15px;font-weight:600}' +
  'svg line{stroke:#8886}@media (prefers-color-scheme: dark){svg text{fill:#ddd}}</style>'

/** A linear scale from 0 to `max`, with round ticks. */
export function linearScale(max: number): Scale {
  const end = max > 0 ? max : 1
  const step = roundNumbers.find((each) => each * ticksMax >= end) ?? end
  const ticks = Array.from({ length: Math.floor(end / step) + 1 }, (_, at) => at * step)
  return { place: (value) => value / end, ticks: ticks.map(withLabel) }
}

/** A logarithmic scale around positive values: powers of ten, and 2 and 5 times them. */
export function logScale(values: readonly number[]): Scale {
  const positive = values.filter((value) => value > 0)
  const [min, max] = [Math.min(...positive), Math.max(...positive)]
  const low = roundNumbers.findLast((each) => each <= min) ?? min
  const high = roundNumbers.find((each) => each >= max && each > low) ?? 10 * low
  const within = roundNumbers.filter((each) => each >= low && each <= high)
  const isFew = within.length <= logTicksMax
  const ticks = within.filter((each) => isFew || Math.abs(Math.log10(each) % 1) < 1e-9)
  return {
    place: (value) => Math.log(Math.max(value, low) / low) / Math.log(high / low),
    ticks: ticks.map(withLabel),
  }
}

/** A scale of names, which the values number from 0. */
export const nameScale = (names: readonly string[]): Scale => ({
  place: (value) => (value + 0.5) / names.length,
  ticks: names.map((label, value) => ({ value, label })),
})

/** Draws a chart for light and dark pages. @returns SVG, complete as a file and within HTML. */
export function drawChart({ title, axes, scales, series, isLine }: Chart): string {
  const [xs, ys] = scales
  const xOf = (value: number) => round(frame.left + plot.width * xs.place(value))
  const yOf = (value: number) => round(frame.top + plot.height * (1 - ys.place(value)))
  const bottom = frame.top + plot.height
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-label="${escapeXml(title)}">`,
    style,
    `<text class="title" x="${frame.left}" y="16">${escapeXml(title)}</text>`,
    renderText(frame.left, 58, axes[1], 'end'),
    renderText(width - frame.right, height - 4, axes[0], 'end'),
    ...ys.ticks.map(
      ({ value, label }) =>
        `<line x1="${frame.left}" x2="${width - frame.right}" y1="${yOf(value)}" y2="${yOf(value)}"/>` +
        renderText(frame.left - 8, yOf(value) + 4, label, 'end'),
    ),
    ...xs.ticks.map(({ value, label }) => renderText(xOf(value), bottom + 17, label, 'middle')),
    ...series.map(({ name, points }, at) => {
      const colour = colours[at % colours.length]
      const places = points.map(([x, y]) => [xOf(x), yOf(y)] as const)
      const dots = places.map(([x, y]) => `<circle cx="${x}" cy="${y}" r="3" fill="${colour}"/>`)
      const line = `<polyline points="${places.join(' ')}" fill="none" stroke="${colour}" stroke-width="2"/>`
      const legend =
        `<rect x="${frame.left + at * 160}" y="32" width="10" height="10" fill="${colour}"/>` +
        renderText(frame.left + 15 + at * 160, 41, name, 'start')
      return `${legend}<g><title>${escapeXml(name)}</title>${isLine && points.length > 1 ? line : dots.join('')}</g>`
    }),
    '</svg>\n',
  ].join('\n')
}

const escapeXml = (words: string): string =>
  words
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')

const renderText = (x: number, y: number, words: string, anchor: string): string =>
  `<text x="${x}" y="${y}" text-anchor="${anchor}">${escapeXml(words)}</text>`

const round = (value: number): number => Math.round(value * 10) / 10

/** A tick with three significant digits: 61.2k, 4,312, 3.14. */
const withLabel = (value: number) => ({
  value,
  label: new Intl.NumberFormat('en', {
    maximumSignificantDigits: 3,
    notation: value >= 10_000 ? 'compact' : 'standard',
  }).format(value),
})
