import { handleRule, parseUserId, type UserId } from '../lib/ids.ts'
import { BadLines, fieldCount, shortened } from './bad-lines.ts'
import { type Line, lineUnitsMax, quoteProblem, splitCsv, type TextFile } from './text-file.ts'

/** One line of an edge list: `from` follows `to`. */
export interface EdgeLine extends Pick<Line, 'line'> {
  readonly from: UserId
  readonly to: UserId
}

/**
 * An edge list: one `a b` or `a b weight` per line, separated by tabs, spaces (SNAP) or commas (CSV).
 * Skips blank lines, comments (`#`, `%`) and a header. The first line after blank lines and comments is a header if:
 * - its two names are common names of such columns (source,target; node_1,node_2; from,to; …), or
 * - neither name is a number, and both names of the next line are.
 *
 * Names become lower case and must be handles; quotes around them are dropped. A weight must be a number, and is
 * ignored.
 */
export class EdgeList {
  private found = new BadLines()

  constructor(private readonly file: Pick<TextFile, 'lines'>) {}

  /** The bad lines that the latest iteration has found so far. */
  get bad(): BadLines {
    return this.found
  }

  /** Streams every edge in the order of the file, with duplicates. */
  async *[Symbol.asyncIterator](): AsyncGenerator<EdgeLine> {
    const bad = new BadLines()
    this.found = bad
    for await (const { line, fields } of withoutHeader(rowsOf(this.file.lines()))) {
      const edge = edgeOf(fields)
      if (typeof edge === 'string') bad.add(line, edge)
      else yield { line, ...edge }
    }
  }
}

interface Row extends Pick<Line, 'line'> {
  /** Or the problem with the line. */
  readonly fields: readonly string[] | string
}

async function* rowsOf(lines: AsyncIterable<Line>): AsyncGenerator<Row> {
  for await (const { line, text } of lines) {
    if (text.startsWith('#') || text.startsWith('%')) continue
    yield { line, fields: fieldsOf(text) }
  }
}

function fieldsOf(text: string): readonly string[] | string {
  if (text.length > lineUnitsMax) return `is longer than ${lineUnitsMax} characters`
  return text.includes(',') ? (splitCsv(text) ?? quoteProblem) : text.split(/\s+/)
}

async function* withoutHeader(rows: AsyncIterable<Row>): AsyncGenerator<Row> {
  let held: Row | undefined
  let begun = false
  for await (const row of rows) {
    if (!begun) {
      begun = true
      if (namesIn(row, isHeading)) continue
      if (namesIn(row, isWord)) {
        held = row
        continue
      }
    }
    if (held && !namesIn(row, isNumber)) yield held
    held = undefined
    yield row
  }
  if (held) yield held
}

/** Common names of columns. Single letters are not among them, because they may be handles. */
const headings = new Set(
  (
    'source target from to src dst follower followee followed following ' +
    'node node1 node2 id1 id2 user user1 user2 friend userid friendid ' +
    'fromnode tonode fromnodeid tonodeid sourceid targetid fromid toid ' +
    'followerid followeeid numericid1 numericid2'
  ).split(' '),
)
const isHeading = (name: string) => headings.has(name.toLowerCase().replace(/[^a-z0-9]/g, ''))
const isNumber = (name: string) => /^\d+$/.test(name)
const isWord = (name: string) => !isNumber(name)

const namesIn = ({ fields }: Row, is: (name: string) => boolean): boolean =>
  typeof fields !== 'string' && fields.length >= 2 && fields.slice(0, 2).every(is)

/** Returns the edge, or the problem with the line. */
function edgeOf(fields: Row['fields']): { from: UserId; to: UserId } | string {
  if (typeof fields === 'string') return fields
  const [a = '', b = '', weight, ...rest] = fields
  if (fields.length < 2 || rest.length > 0) {
    return `has ${fieldCount(fields.length)}, not "a b" or "a b weight"`
  }
  if (weight !== undefined && (weight === '' || !Number.isFinite(Number(weight)))) {
    return `"${shortened(weight)}" is not a weight: it is not a number`
  }
  const from = parseUserId(a.toLowerCase())
  const to = parseUserId(b.toLowerCase())
  if (!from || !to) return `"${shortened(from ? b : a)}" is not a handle: ${handleRule}`
  return from === to ? `"${from}" would follow itself` : { from, to }
}
