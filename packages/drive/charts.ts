import { colourOf, escapeXml, formatShort, px, renderText, roundUp } from '../../src/lib/svg.ts'

/** A line of a chart. A gap between two points is drawn through. */
export interface Line {
  readonly name: string
  /** The number of its colour. */
  readonly colour: number
  readonly points: readonly (readonly [x: number, y: number])[]
}

/** Places values on an axis. */
export interface Scale {
  /** The place of a value, from 0 to 1. */
  readonly place: (value: number) => number
  readonly ticks: readonly { readonly value: number; readonly label: string }[]
}

const [width, height] = [720, 300]
const frame = { left: 58, right: 14, top: 44, bottom: 40 }
const plot = { width: width - frame.left - frame.right, height: height - frame.top - frame.bottom }
/** How many labels the lower axis has at most, and a logarithmic one with more than powers of ten. */
const [labelsMax, logLabelsMax] = [8, 10]

/** A linear scale from 0 to a round number. */
export function linearScale(max: number): Scale {
  const top = roundUp(max || 1)
  const ticks = [0, 0.25, 0.5, 0.75, 1].map((part) => part * top)
  return {
    place: (value) => value / top,
    ticks: ticks.map((value) => ({ value, label: formatShort(value) })),
  }
}

/** A scale from 0 to exactly `max`, with round ticks: times and rates on the lower axis. */
export function exactScale(max: number): Scale {
  const step = roundStep((max || 1) / labelsMax)
  const count = Math.floor((max || 1) / step)
  const ticks = Array.from({ length: count + 1 }, (_, at) => at * step)
  return {
    place: (value) => value / (max || 1),
    ticks: ticks.map((value) => ({ value, label: formatShort(value) })),
  }
}

/** The lowest step of 1, 2 or 5 times a power of ten that is at least `min`. */
function roundStep(min: number): number {
  const size = 10 ** Math.floor(Math.log10(min))
  return ([1, 2, 5].find((step) => step * size >= min) ?? 10) * size
}

/** A logarithmic scale around positive values: powers of ten, and 2 and 5 times them. */
export function logScale(values: readonly number[]): Scale {
  const positive = values.filter((value) => value > 0)
  const all = positive.length > 0 ? positive : [1]
  const steps = [1, 2, 5]
  const candidates = Array.from({ length: 36 }, (_, at) => {
    const power = Math.floor(at / 3) - 4
    return (steps[at % 3] as number) * 10 ** power
  })
  const [min, max] = [Math.min(...all), Math.max(...all)]
  const low = candidates.findLast((value) => value <= min) ?? min
  const high = candidates.find((value) => value >= max && value > low) ?? 10 * max
  const within = candidates.filter((value) => value >= low && value <= high)
  const isFew = within.length <= logLabelsMax
  const shown = within.filter((value) => isFew || Math.abs(Math.log10(value) % 1) < 1e-9)
  const range = Math.log(high / low)
  return {
    place: (value) => Math.log(Math.max(value, low) / low) / range,
    ticks: shown.map((value) => ({ value, label: formatShort(value) })),
  }
}

/** A scale of percentiles that gives each further nine the same room: 0, 90, 99, 99.9. */
export function percentileScale(percentMax: number): Scale {
  const nines = (percent: number) => -Math.log10(1 - Math.min(percent, percentMax) / 100)
  const ticks = [0, 50, 90, 99, 99.9, 99.99, 99.999].filter((value) => value <= percentMax)
  return {
    place: (value) => nines(value) / nines(percentMax),
    ticks: ticks.map((value) => ({ value, label: `${value}` })),
  }
}

/** Draws lines. Colours of texts and grid come from the page. @returns SVG. */
export function drawLines(
  texts: { readonly title: string; readonly x: string; readonly y: string },
  [xs, ys]: readonly [x: Scale, y: Scale],
  lines: readonly Line[],
): string {
  const xOf = (value: number) => frame.left + plot.width * xs.place(value)
  const yOf = (value: number) => frame.top + plot.height * (1 - ys.place(value))
  const bottom = frame.top + plot.height
  const grid = ys.ticks.map(({ value, label }) => {
    const y = px(yOf(value))
    return (
      `<line class="grid" x1="${frame.left}" x2="${width - frame.right}" y1="${y}" y2="${y}"/>` +
      renderText([frame.left - 8, yOf(value) + 4], label, 'end')
    )
  })
  const axis = xs.ticks.map(({ value, label }) =>
    renderText([xOf(value), bottom + 17], label, 'middle'),
  )
  return [
    `<svg viewBox="0 0 ${width} ${height}" role="img" aria-label="${escapeXml(texts.title)}">`,
    renderText([frame.left, 14], texts.y, 'start', 'unit'),
    ...drawLegend(lines),
    ...grid,
    ...axis,
    renderText([width - frame.right, height - 6], texts.x, 'end', 'unit'),
    ...lines.map((line) => drawLine(line, xOf, yOf)),
    '</svg>',
  ].join('\n')
}

function drawLine(
  { name, colour, points }: Line,
  xOf: (value: number) => number,
  yOf: (value: number) => number,
): string {
  const path = points.map(([x, y]) => `${px(xOf(x))},${px(yOf(y))}`).join(' ')
  const stroke = colourOf(colour)
  const [only] = points
  const shape =
    points.length === 1 && only
      ? `<circle cx="${px(xOf(only[0]))}" cy="${px(yOf(only[1]))}" r="3" fill="${stroke}"/>`
      : `<polyline points="${path}" fill="none" stroke="${stroke}" stroke-width="2" stroke-linejoin="round"/>`
  return `<g><title>${escapeXml(name)}</title>${shape}</g>`
}

function drawLegend(lines: readonly Line[]): string[] {
  let x = frame.left
  return lines.map(({ name, colour }) => {
    const item =
      `<rect x="${px(x)}" y="23" width="10" height="10" rx="2" fill="${colourOf(colour)}"/>` +
      renderText([x + 15, 32], name, 'start')
    x += 34 + name.length * 7
    return item
  })
}
