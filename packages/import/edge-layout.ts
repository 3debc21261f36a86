import { DomainError } from '../../src/errors.ts'
import { type Columns, columnsByRole, decideFirstRow, isNumeric, type Row } from './heading.ts'
import { columnName } from './heading-words.ts'
import {
  bestSeparator,
  filledCount,
  isComment,
  namedSeparators,
  type Separator,
  splitFields,
} from './separated.ts'
import { fieldCount, type Line, lengthProblem, shortened, type TextFile } from './text-file.ts'
import { type NamedBy, nameProblem, parseUserName, type UserName } from './user-names.ts'

/** How the lines of an edge list are read. */
export interface EdgeLayout extends Columns {
  readonly separator: Separator
  /** The lines `sep=;` and, of a Matrix Market file, of sizes. */
  readonly skipped: readonly number[]
  /** The heading. Later lines of the same text are headings too. */
  readonly heading: Pick<Line, 'line' | 'text'> | undefined
  /** The most fields of a line. */
  readonly width: number
}

/** What one line holds. */
type EdgeOrProblem =
  | { readonly from: UserName; readonly to: UserName }
  | { readonly problem: string; readonly isSelf: boolean }
  | 'EMPTY'

/**
 * How many lines the layout is decided by, beside comments and blank lines. They take 4 MB at most.
 */
const sampleMax = 1_000

/**
 * Decides the layout by the first lines of a file alone, so that each run of an import decides the
 * same.
 * @throws {DomainError} BAD_USER_INPUT if the file cannot be read, or these lines are no edge list:
 *   it names the line.
 */
export async function findLayout(file: TextFile, namedBy: NamedBy): Promise<EdgeLayout> {
  const { lines, skipped, named, comments, isWhole } = await readSample(file)
  const refuse = ({ line, text }: Pick<Row, 'line' | 'text'>, problem: string): DomainError =>
    new DomainError('BAD_USER_INPUT', `${file.path}: line ${line} "${shortened(text)}" ${problem}`)
  const isName = (field: string) => parseUserName(field, namedBy) !== undefined
  const separator = bestSeparator(
    // A subject often has pipes, seldom commas and no blanks.
    named ?? (namedBy === undefined ? ['\t', ';', '|', ',', ' '] : ['\t', ';', ',', ' ', '|']),
    lines.map(({ text }) => text),
    isName,
  )
  const rows = lines.flatMap(({ line, text }): Row[] => {
    const fields = lengthProblem(text) ?? splitFields(text, separator)
    return typeof fields === 'string' || filledCount(fields) === 0 ? [] : [{ line, text, fields }]
  })
  const several = rows.filter(({ fields }) => filledCount(fields) >= 2)
  const [first, ...below] = several
  const others = below.filter(({ text }) => text !== first?.text)
  const decided = first ? decideFirstRow(first, others, isName) : ({ kind: 'EDGE' } as const)
  if (first && decided.kind === 'UNCLEAR')
    throw refuse(first, `${decided.problem}. ${decided.help ?? howToDecide(first, separator)}`)
  const isHeading = decided.kind === 'HEADING'
  const heading = isHeading ? first : undefined
  const width = heading ? widthOf(heading, others) : commonCount(several)
  if (!heading) {
    const lists = rows.find(({ text }) => /^\S+\s+\{.*\}$/.test(text)) ?? adjacency(several)
    if (lists)
      throw refuse(
        lists,
        'looks like one of an adjacency list. Write one follower and one followee a line.',
      )
    const late = lateHeading(several)
    if (late) throw refuse(late, `may be a heading or an edge. ${howToDecide(late, separator)}`)
  }
  const columns = isHeading
    ? { from: decided.from, to: decided.to }
    : columnsOfComments(comments, separator, width)
  const layout: EdgeLayout = { ...columns, separator, skipped, heading, width }
  const problem = sampleProblem(lines, layout, namedBy, isWhole)
  if (problem) throw new DomainError('BAD_USER_INPUT', `${file.path}${problem}`)
  return layout
}

/** Reads the edge of a line that is no comment and no heading. */
export function readEdge(text: string, layout: EdgeLayout, namedBy: NamedBy): EdgeOrProblem {
  const wrong = (problem: string, isSelf = false) => ({ problem, isSelf })
  const fields = lengthProblem(text) ?? splitFields(text, layout.separator)
  if (typeof fields === 'string') return wrong(fields)
  const count = filledCount(fields)
  if (count === 0) return 'EMPTY'
  const { width, heading } = layout
  const isWide = count > width && (heading || count > 3 || !isNumeric(fields[2] ?? ''))
  if (count < 2 || isWide) {
    return wrong(
      heading
        ? `has ${fieldCount(count)}, the heading ${width}`
        : `has ${fieldCount(count)}, not ${width > 2 ? `2 to ${width}` : '"a b" or "a b weight"'}`,
    )
  }
  const [a = '', b = ''] = [fields[layout.from], fields[layout.to]]
  const from = parseUserName(a, namedBy)
  const to = parseUserName(b, namedBy)
  if (!from || !to) return wrong(`"${shortened(from ? b : a)}" ${nameProblem(namedBy)}`)
  return from === to ? wrong(`"${shortened(from)}" would follow itself`, true) : { from, to }
}

/** Returns why a file is refused if half of its sample is no edges, or all of it has none. */
function sampleProblem(
  lines: readonly Line[],
  layout: EdgeLayout,
  namedBy: NamedBy,
  isWhole: boolean,
): string | undefined {
  let edges = 0
  const bad: { readonly line: number; readonly problem: string }[] = []
  for (const { line, text } of lines) {
    if (text === layout.heading?.text) continue
    const edge = readEdge(text, layout, namedBy)
    if (edge === 'EMPTY') continue
    if ('from' in edge) edges++
    else if (!edge.isSelf) bad.push({ line, problem: edge.problem })
  }
  const [first] = bad
  if (first && bad.length >= edges)
    return `: line ${first.line} ${first.problem}. Of the first ${lines.length} lines, ${bad.length} are no edges.`
  return edges === 0 && isWhole ? ' has no edge' : undefined
}

async function readSample(file: TextFile) {
  const lines: Line[] = []
  const skipped: number[] = []
  let named: readonly Separator[] | undefined
  let hasSizes = false
  const comments: string[] = []
  let isWhole = true
  for await (const { line, text } of file.lines()) {
    hasSizes ||= text.startsWith('%%MatrixMarket matrix coordinate')
    if (lines.length === sampleMax) {
      isWhole = false
      break
    }
    if (isComment(text)) {
      if (lines.length === 0 && comments.length < sampleMax) comments.push(text)
      continue
    }
    const isFirst = lines.length + skipped.length === 0
    if (isFirst) named = namedSeparators(text)
    if (isFirst && (named || hasSizes)) skipped.push(line)
    else lines.push({ line, text })
  }
  return { lines, skipped, named, comments, isWhole }
}

/** The sentence that ends a refusal of a row that may be a heading. */
function howToDecide({ text }: Row, separator: Separator): string {
  const first = (/from|to/i.test(text) ? ['source', 'target'] : ['from', 'to']).join(separator)
  return `Write "${first}" as the first line. If this line is a heading, remove it.`
}

/**
 * A heading below edges, as in a sorted file: its two names are names of columns, and no other row
 * has them.
 */
function lateHeading([, ...rows]: readonly Row[]): Row | undefined {
  const isHeading = ({ fields }: Row) => {
    const words = fields.slice(0, 2).map(columnName)
    return words.every((word) => word?.rest === '') && columnsByRole(words) !== undefined
  }
  const uses = (name: string | undefined) =>
    rows.filter(({ fields }) => fields.slice(0, 2).includes(name ?? '')).length
  return rows.find(
    (row) => isHeading(row) && row.fields.slice(0, 2).every((name) => uses(name) === 1),
  )
}

/**
 * The columns that a comment before the first line names, such as `# ToNodeId FromNodeId`. The last
 * such comment counts.
 */
function columnsOfComments(
  comments: readonly string[],
  separator: Separator,
  width: number,
): Columns {
  for (const comment of comments.toReversed()) {
    const fields = splitFields(comment.replace(/^[#%/\s]+/, ''), separator)
    if (typeof fields === 'string' || fields.length < 2) continue
    const words = fields.map(columnName)
    const isHeading = fields.length === width || words.every((word) => word?.rest === '')
    const columns = isHeading && columnsByRole(words)
    if (columns) return columns
  }
  return { from: 0, to: 1 }
}

/**
 * A row that holds more than one edge: a third field is a user too, or the rows have three numbers
 * of fields or more.
 */
function adjacency(rows: readonly Row[]): Row | undefined {
  const users = new Set(rows.flatMap(({ fields }) => fields.slice(0, 2)))
  const third = rows.find(({ fields: [, , name = ''] }) => !isNumeric(name) && users.has(name))
  if (third) return third
  const common = commonCounts(rows)
    .slice(0, 2)
    .map(([count]) => count)
  const odd = rows.filter(({ fields }) => !common.includes(filledCount(fields)))
  return odd.length > 1 && odd.length * 10 > rows.length ? odd[0] : undefined
}

/** The numbers of fields, the most common first. */
function commonCounts(rows: readonly Row[]): (readonly [number, number])[] {
  const counts = new Map<number, number>()
  for (const { fields } of rows) {
    const count = filledCount(fields)
    counts.set(count, (counts.get(count) ?? 0) + 1)
  }
  return [...counts].sort((one, other) => other[1] - one[1] || one[0] - other[0])
}

const commonCount = (rows: readonly Row[]): number => commonCounts(rows)[0]?.[0] ?? 2

/** A heading names each field, except the names of rows of R, and fields that no line fills. */
const widthOf = (heading: Row, others: readonly Row[]): number =>
  Math.max(heading.fields.length, commonCount(others))
