import { handleRule, parseUserId, type UserId } from '../lib/ids.ts'
import { lineUnitsMax, type TextFile } from './text-file.ts'

/** One line of an edge list: `from` follows `to`. */
export interface EdgeLine {
  /** From 1, counting every line of the file. */
  readonly line: number
  readonly from: UserId
  readonly to: UserId
}

/** A line that holds no edge, and why. */
export interface BadLine {
  readonly line: number
  readonly problem: string
}

/** The bad lines of a file: how many, and the first {@link badLinesKept}. */
export interface BadLines {
  readonly count: number
  readonly first: readonly BadLine[]
}

/** How many bad lines are kept for the report; the others are counted. */
export const badLinesKept = 20

/**
 * An edge list: `a b` or `a b weight` a line, parted by tabs, spaces (SNAP) or a comma (CSV).
 * Passed over: blank lines, comments (`#`, `%`), and a header. The first line that is neither blank
 * nor a comment is a header when its two names are both words that head such columns
 * (source,target; node_1,node_2; from,to; …), or when neither is a number while both names of the
 * next line are. Names are lower-cased and must be handles; quotes around them are dropped. A
 * weight must be a number, and is ignored.
 */
export class EdgeList {
  private count = 0
  private first: BadLine[] = []

  constructor(private readonly file: Pick<TextFile, 'lines'>) {}

  /** What the latest walk has met so far. */
  get bad(): BadLines {
    return { count: this.count, first: this.first }
  }

  /** Every edge in the order of the file, duplicates included. Streams: the file is never held. */
  async *[Symbol.asyncIterator](): AsyncGenerator<EdgeLine> {
    this.count = 0
    this.first = []
    for await (const { line, fields } of withoutHeader(numbered(this.file.lines()))) {
      const found = edgeOf(fields)
      if (typeof found === 'string') this.refuse(line, found)
      else yield { line, ...found }
    }
  }

  private refuse(line: number, problem: string): void {
    this.count++
    if (this.first.length < badLinesKept) this.first.push({ line, problem })
  }
}

interface Row {
  readonly line: number
  /** Undefined: the line is too long to be one. */
  readonly fields: readonly string[] | undefined
}

async function* numbered(lines: AsyncIterable<string>): AsyncGenerator<Row> {
  let line = 0
  for await (const text of lines) {
    line++
    const row = text.trim()
    if (row === '' || row.startsWith('#') || row.startsWith('%')) continue
    yield { line, fields: row.length > lineUnitsMax ? undefined : fieldsOf(row) }
  }
}

const fieldsOf = (row: string): string[] =>
  row.includes(',')
    ? row.split(',').map((field) => field.trim().replace(/^"(.*)"$/, '$1'))
    : row.split(/\s+/)

async function* withoutHeader(rows: AsyncGenerator<Row>): AsyncGenerator<Row> {
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

/** Without single letters: those may as well be people. */
const headings = new Set([
  ...[
    'source',
    'target',
    'from',
    'to',
    'src',
    'dst',
    'follower',
    'followee',
    'followed',
    'following',
  ],
  ...[
    'node',
    'node1',
    'node2',
    'id1',
    'id2',
    'user',
    'user1',
    'user2',
    'friend',
    'userid',
    'friendid',
  ],
  ...['fromnode', 'tonode', 'fromnodeid', 'tonodeid', 'sourceid', 'targetid', 'fromid', 'toid'],
  ...['followerid', 'followeeid', 'numericid1', 'numericid2'],
])
const isHeading = (name: string) => headings.has(name.toLowerCase().replace(/[^a-z0-9]/g, ''))
const isNumber = (name: string) => /^\d+$/.test(name)
const isWord = (name: string) => !isNumber(name)

const namesIn = ({ fields }: Row, is: (name: string) => boolean): boolean =>
  fields !== undefined && fields.length >= 2 && fields.slice(0, 2).every(is)

/** @returns the edge, or what is wrong with the line. */
function edgeOf(fields: Row['fields']): { from: UserId; to: UserId } | string {
  if (!fields) return `is longer than ${lineUnitsMax} characters`
  const [a = '', b = '', weight, ...rest] = fields
  if (fields.length < 2 || rest.length > 0) {
    return `has ${fields.length} field${fields.length === 1 ? '' : 's'}, not "a b" or "a b weight"`
  }
  if (weight !== undefined && (weight === '' || !Number.isFinite(Number(weight)))) {
    return `"${shown(weight)}" is not a weight: it is not a number`
  }
  const from = parseUserId(a.toLowerCase())
  const to = parseUserId(b.toLowerCase())
  if (!from || !to) return `"${shown(from ? b : a)}" is not a handle: ${handleRule}`
  return from === to ? `"${from}" would follow itself` : { from, to }
}

const shown = (name: string) => (name.length > 80 ? `${name.slice(0, 80)}…` : name)
