import { DomainError } from '../errors.ts'
import { BadLines, fieldCount } from './bad-lines.ts'
import {
  type Contradiction,
  contradictions,
  headerProblem,
  parseRelation,
  type Relation,
  type ResolvedRelation,
  resolveRelation,
} from './relations.ts'
import { type Line, lineUnitsMax, quoteProblem, splitCsv, TextFile } from './text-file.ts'

/** A row of a file, with the history that it describes. */
export type RelationRow = ResolvedRelation &
  Pick<Relation, 'follower' | 'followee'> &
  Pick<Line, 'line'>

/** What a stream of rows has found so far. */
export interface RelationFindings {
  /** Lines that hold a relation. */
  readonly rows: number
  /** How many of these rows contradict themselves, by kind. */
  readonly contradictions: Readonly<Record<Contradiction, number>>
  readonly bad: BadLines
}

const noFindings = () => ({
  rows: 0,
  contradictions: Object.fromEntries(contradictions.map((kind) => [kind, 0])) as Record<
    Contradiction,
    number
  >,
  bad: new BadLines(),
})

/** A file of relations: CSV with a header line, or JSONL. Blank lines are skipped. */
export class RelationFile {
  private found = noFindings()

  private constructor(
    readonly file: TextFile,
    /** The columns of a CSV file, and the line that names them. */
    private readonly header:
      | { readonly line: number; readonly names: readonly string[] }
      | undefined,
  ) {}

  /**
   * Opens a file and reads its first line.
   * @throws {DomainError} BAD_USER_INPUT if the file cannot be read, or its header names other columns.
   */
  static async open(path: string): Promise<RelationFile> {
    const file = await TextFile.open(path)
    for await (const { line, text } of file.lines()) {
      if (text.startsWith('{')) break
      const names = splitCsv(text)
      const problem = names ? headerProblem(names) : quoteProblem
      if (!names || problem)
        throw new DomainError('BAD_USER_INPUT', `${path}: line ${line} ${problem}`)
      return new RelationFile(file, { line, names })
    }
    return new RelationFile(file, undefined)
  }

  /** The findings of the latest stream of {@link rows}. */
  get findings(): RelationFindings {
    return this.found
  }

  /**
   * Streams every row in the order of the file, with duplicates.
   * @param nowMs as in {@link parseRelation}.
   */
  async *rows(nowMs: number): AsyncGenerator<RelationRow> {
    const found = noFindings()
    this.found = found
    for await (const { line, text } of this.file.lines()) {
      if (line === this.header?.line) continue
      const fields = this.columnsOf(text)
      const relation = typeof fields === 'string' ? fields : parseRelation(fields, nowMs)
      if (typeof relation === 'string') {
        found.bad.add(line, relation)
        continue
      }
      const { follower, followee } = relation
      const resolved = resolveRelation(relation)
      found.rows++
      if (resolved.contradiction) found.contradictions[resolved.contradiction]++
      yield { line, follower, followee, ...resolved }
    }
  }

  /** Returns the columns of a line, or the problem with the line. */
  private columnsOf(text: string): Readonly<Record<string, unknown>> | string {
    if (text.length > lineUnitsMax) return `is longer than ${lineUnitsMax} characters`
    if (!this.header) return objectIn(text) ?? 'is no JSON object'
    const { names } = this.header
    const fields = splitCsv(text)
    if (!fields) return quoteProblem
    if (fields.length !== names.length) {
      return `has ${fieldCount(fields.length)}, the header ${names.length}`
    }
    return Object.fromEntries(names.map((name, at) => [name, fields[at]]))
  }
}

function objectIn(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return value !== null && typeof value === 'object' && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined
  } catch {
    return undefined
  }
}
