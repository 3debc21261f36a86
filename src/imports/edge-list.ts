import {
  type BadLines,
  fieldCount,
  type Line,
  lengthProblem,
  shortened,
  splitCsv,
  TextFile,
} from './text-file.ts'
import { type NamedBy, nameProblem, parseUserName, type UserName } from './user-names.ts'

/** One line of an edge list: `from` follows `to`. */
export interface EdgeLine extends Pick<Line, 'line'> {
  readonly from: UserName
  readonly to: UserName
}

/**
 * An edge list: one `a b` or `a b weight` per line, separated by tabs, spaces (SNAP) or commas (CSV).
 * Skips blank lines, comments (`#`, `%`) and a header. The first line after blank lines and comments is a header if:
 * - its two names are common names of such columns (source,target; node_1,node_2; from,to; …), or
 * - neither name is a number, and both names of the next line are.
 *
 * Names must be handles, which become lower case, or subjects; quotes around them are dropped. A weight must be a number,
 * and is ignored.
 */
export class EdgeList {
  private constructor(
    readonly file: TextFile,
    /** The number of the line, or undefined. */
    private readonly header: number | undefined,
    private readonly namedBy: NamedBy,
  ) {}

  /**
   * Opens a file and reads its first lines.
   * @throws {DomainError} BAD_USER_INPUT if the file cannot be read.
   */
  static async open(path: string, namedBy?: NamedBy): Promise<EdgeList> {
    const file = await TextFile.open(path)
    return new EdgeList(file, await findHeader(file), namedBy)
  }

  /** The findings of the latest stream of {@link rows}. */
  get findings(): { readonly bad: BadLines } {
    return { bad: this.file.bad }
  }

  /** Streams every edge in the order of the file, with duplicates. */
  rows(): AsyncGenerator<EdgeLine> {
    return this.file.rows(({ line, text }) =>
      line === this.header || isComment(text) ? undefined : edgeOf(fieldsOf(text), this.namedBy),
    )
  }
}

async function findHeader(file: TextFile): Promise<number | undefined> {
  let words: number | undefined
  for await (const { line, text } of file.lines()) {
    if (isComment(text)) continue
    const fields = fieldsOf(text)
    const names = typeof fields === 'string' || fields.length < 2 ? [''] : fields.slice(0, 2)
    if (words !== undefined) return names.every(isNumber) ? words : undefined
    if (names.every(isHeading)) return line
    if (names.length < 2 || names.some(isNumber)) return undefined
    words = line
  }
  return undefined
}

const isComment = (text: string) => text.startsWith('#') || text.startsWith('%')

/** Returns the fields of a line, or the problem with the line. */
const fieldsOf = (text: string): readonly string[] | string =>
  lengthProblem(text) ?? (text.includes(',') ? splitCsv(text) : text.split(/\s+/))

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

/** Returns the edge, or the problem with the line. */
function edgeOf(
  fields: readonly string[] | string,
  namedBy: NamedBy,
): Pick<EdgeLine, 'from' | 'to'> | string {
  if (typeof fields === 'string') return fields
  const [a = '', b = '', weight, ...rest] = fields
  if (fields.length < 2 || rest.length > 0) {
    return `has ${fieldCount(fields.length)}, not "a b" or "a b weight"`
  }
  if (weight !== undefined && (weight === '' || !Number.isFinite(Number(weight)))) {
    return `"${shortened(weight)}" is not a weight: it is not a number`
  }
  const from = parseUserName(a, namedBy)
  const to = parseUserName(b, namedBy)
  if (!from || !to) return `"${shortened(from ? b : a)}" ${nameProblem(namedBy)}`
  return from === to ? `"${shortened(from)}" would follow itself` : { from, to }
}
