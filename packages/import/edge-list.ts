import { type EdgeLayout, findLayout, readEdge } from './edge-layout.ts'
import { isComment } from './separated.ts'
import { type BadLines, type Line, TextFile } from './text-file.ts'
import type { NamedBy, UserName } from './user-names.ts'

/** One line of an edge list: `from` follows `to`. */
export interface EdgeLine extends Pick<Line, 'line'> {
  readonly from: UserName
  readonly to: UserName
}

/** The lines of an edge list by what they hold. */
interface EdgeLineCounts {
  /** All lines: the sum of the others. */
  readonly read: number
  readonly edges: number
  readonly headings: number
  readonly comments: number
  readonly empty: number
  readonly self: number
  readonly invalid: number
}

/** What a stream of edges has found so far. */
export interface EdgeFindings {
  /** The lines in which a user follows itself, and those that hold no edge. */
  readonly bad: BadLines
  readonly lines: EdgeLineCounts
  readonly heading: Pick<Line, 'line' | 'text'> | undefined
}

const expected = {
  sentence: 'Give a text file with one follower and one followee a line, for example CSV.',
}

const noLines = () => ({ edges: 0, headings: 0, comments: 0, self: 0 })

/**
 * An edge list: lines of two names and further fields, which are ignored. One separator holds for a
 * file: tabs, blanks, commas, semicolons, pipes, or what a first line `sep=` names. Fields may be
 * quoted.
 *
 * Skips blank lines, comments (`#`, `%`, `//`), frames of tables, and a heading. The words of a
 * heading say which columns are read, in either order; without one, the first name follows the
 * second. {@link findLayout} decides.
 *
 * Names must be handles, which become lower case, or subjects.
 */
export class EdgeList {
  private found = noLines()

  private constructor(
    readonly file: TextFile,
    private readonly layout: EdgeLayout,
    private readonly namedBy: NamedBy,
  ) {}

  /**
   * Opens a file and reads its first lines.
   * @throws {DomainError} BAD_USER_INPUT if the file cannot be read, or is no edge list.
   */
  static async open(path: string, namedBy?: NamedBy): Promise<EdgeList> {
    const file = await TextFile.open(path, expected)
    return new EdgeList(file, await findLayout(file, namedBy), namedBy)
  }

  /** The findings of the latest stream of {@link rows}. */
  get findings(): EdgeFindings {
    const { bad, lineCount: read } = this.file
    const { edges, headings, comments, self } = this.found
    const empty = read - edges - headings - comments - bad.count
    const lines = { read, ...this.found, empty, invalid: bad.count - self }
    return { bad, lines, heading: this.layout.heading }
  }

  /** Streams every edge in the order of the file, with duplicates. */
  rows(): AsyncGenerator<EdgeLine> {
    const { layout, namedBy } = this
    const counts = noLines()
    this.found = counts
    return this.file.rows(({ line, text }) => {
      if (isComment(text)) {
        counts.comments++
        return undefined
      }
      if (layout.skipped.includes(line) || text === layout.heading?.text) {
        counts.headings++
        return undefined
      }
      const edge = readEdge(text, layout, namedBy)
      if (edge === 'EMPTY') return undefined
      if ('problem' in edge) {
        if (edge.isSelf) counts.self++
        return edge.problem
      }
      counts.edges++
      return edge
    })
  }
}
