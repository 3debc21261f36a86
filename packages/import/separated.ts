import { CsvError, parse } from 'csv-parse/sync'

/** What separates the fields of a file. A space stands for any blanks. */
export type Separator = string

/** The problem with a line whose quotes are wrong. */
export const quoteProblem = 'has a quote that is not closed, or one within a field'

/**
 * Splits a line into trimmed fields. A quoted field may hold separators and doubled quotes, but no
 * line end. Omits the frame of a table with pipes, and the data of NetworkX (`{…}`) at the end.
 * @returns the fields, or the problem with the line.
 */
export function splitFields(line: string, separator: Separator): string[] | string {
  let text = line.endsWith('}') ? line.replace(/[\s,;|]*\{.*\}$/, '') : line
  if (separator === '|' && text.startsWith('|')) text = text.replace(/^\||\|$/g, '')
  // The parser takes a hundred times as long: 21 µs instead of 0.2 µs for a line of seven fields.
  if (!text.includes('"')) {
    if (separator === ' ') return text.split(/\s+/)
    return text.split(separator).map((field) => field.trim())
  }
  const blanks = separator === ' '
  const delimiter = blanks ? [' ', '\t'] : separator
  try {
    const [fields = []] = parse(text, { delimiter, trim: !blanks, relax_column_count: true })
    return blanks ? fields.filter((field) => field !== '') : fields.map((field) => field.trim())
  } catch (error) {
    if (error instanceof CsvError) return quoteProblem
    throw error
  }
}

/** How many fields there are without empty ones at the end. */
export function filledCount(fields: readonly string[]): number {
  let count = fields.length
  while (count > 0 && fields[count - 1] === '') count--
  return count
}

/**
 * The separators that a line such as `sep=;` may name, which Excel writes and reads.
 * @returns undefined for another line. A tab and a space look alike, because lines are trimmed.
 */
export function namedSeparators(line: string): readonly Separator[] | undefined {
  const [, separator] = /^"?sep=(.?)"?[\s,;]*$/i.exec(line) ?? []
  if (separator === '') return ['\t', ' ']
  return separator === undefined ? undefined : [separator]
}

/** A comment, or a line that frames a table. */
export const isComment = (text: string): boolean =>
  text.startsWith('#') ||
  text.startsWith('%') ||
  text.startsWith('//') ||
  (text.includes('--') && /^[-+=|: ]+$/.test(text))

/**
 * Counts lines with a score for each separator. @returns the one with the highest score; of
 * several, the first.
 */
export function bestSeparator(
  candidates: readonly Separator[],
  lines: readonly string[],
  isName: (field: string) => boolean,
): Separator {
  const scored = candidates.map((separator) => {
    let score = 0
    for (const line of lines) {
      const fields = splitFields(line, separator)
      if (typeof fields === 'string') continue
      if (fields.filter((field) => isName(field)).length >= 2) score += lines.length + 1
      else if (filledCount(fields) >= 2) score++
    }
    return { separator, score }
  })
  return scored.reduce((best, other) => (other.score > best.score ? other : best)).separator
}
