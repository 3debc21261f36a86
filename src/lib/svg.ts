/** Colours that are distinct for colour-blind readers, on white and on black. */
const colours = ['#2f7ed8', '#e69f00', '#009e73', '#cc79a7', '#d55e00', '#8a8a8a', '#56b4e9']

/** The colour of a series by number. More series than colours share some. */
export const colourOf = (at: number): string => colours[at % colours.length] as string

/** A coordinate in an attribute, with one digit behind the point. */
export const px = (value: number): string => String(Math.round(value * 10) / 10)

/** A text as content or attribute of XML and HTML. */
export const escapeXml = (words: string): string =>
  words
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')

/** A text element of SVG at a place. @param kind its class. */
export function renderText(
  [x, y]: readonly [x: number, y: number],
  words: string,
  anchor: string,
  kind = '',
): string {
  const named = kind ? ` class="${kind}"` : ''
  return `<text x="${px(x)}" y="${px(y)}" text-anchor="${anchor}"${named}>${escapeXml(words)}</text>`
}

/** Formats a number with three significant digits: 61.2k, 4,312, 812, 3.14. */
export function formatShort(value: number): string {
  if (value >= 1_000_000) return `${Number((value / 1_000_000).toPrecision(3))}M`
  if (value >= 10_000) return `${Number((value / 1_000).toPrecision(3))}k`
  return value >= 100
    ? Math.round(value).toLocaleString('en')
    : String(Number(value.toPrecision(3)))
}

/** The lowest round number that is at least `max`: its first digit times a power of ten. */
export function roundUp(max: number): number {
  const size = 10 ** Math.floor(Math.log10(max || 1))
  return ([1, 2, 3, 4, 5, 6, 8, 10].find((step) => step * size >= max) ?? 10) * size
}
