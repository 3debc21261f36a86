import { DomainError } from '../errors.ts'
import { type BadLine, type BadLines, badLinesKept } from './edge-list.ts'
import {
  type Contradiction,
  contradictions,
  headerProblem,
  parseRelation,
  type Relation,
  type ResolvedRelation,
  resolveRelation,
} from './relations.ts'
import { lineUnitsMax, TextFile } from './text-file.ts'

/** A row of a file, with what it comes to. */
export interface RelationRow extends ResolvedRelation, Pick<Relation, 'follower' | 'followee'> {
  /** From 1, counting every line of the file. */
  readonly line: number
}

/** What a walk has met so far. */
export interface RelationFindings {
  /** Lines that hold a relation. */
  readonly rows: number
  /** How many of them contradict themselves, by kind. */
  readonly contradictions: Readonly<Record<Contradiction, number>>
  readonly bad: BadLines
}

/** A file of relations: CSV whose first line names the columns, or JSONL; blank lines are passed over. */
export class RelationFile {
  private count = 0
  private contradicting = none()
  private badCount = 0
  private first: BadLine[] = []

  private constructor(
    readonly file: TextFile,
    /** The columns of a CSV file, and the line that names them. */
    private readonly header:
      | { readonly line: number; readonly names: readonly string[] }
      | undefined,
  ) {}

  /**
   * Opens a file and reads its first line.
   * @throws {DomainError} BAD_USER_INPUT when it cannot be read, or its header names other columns.
   */
  static async open(path: string): Promise<RelationFile> {
    const file = await TextFile.open(path)
    for await (const { line, text } of numbered(file)) {
      if (text.startsWith('{')) break
      const names = fieldsOf(text)
      const problem = headerProblem(names)
      if (problem) throw new DomainError('BAD_USER_INPUT', `${path}: line ${line} ${problem}`)
      return new RelationFile(file, { line, names })
    }
    return new RelationFile(file, undefined)
  }

  /** Of the latest walk. */
  get findings(): RelationFindings {
    const bad = { count: this.badCount, first: this.first }
    return { rows: this.count, contradictions: this.contradicting, bad }
  }

  /**
   * Every row in the order of the file, duplicates included. Streams: the file is never held.
   * @param nowMs as in {@link parseRelation}.
   */
  async *rows(nowMs: number): AsyncGenerator<RelationRow> {
    this.count = 0
    this.contradicting = none()
    this.badCount = 0
    this.first = []
    for await (const { line, text } of numbered(this.file)) {
      if (line === this.header?.line) continue
      const fields = this.columnsOf(text)
      const relation = typeof fields === 'string' ? fields : parseRelation(fields, nowMs)
      if (typeof relation === 'string') this.refuse(line, relation)
      else yield this.counted(line, relation)
    }
  }

  /** @returns the columns of a line, or what is wrong with it. */
  private columnsOf(text: string): Readonly<Record<string, unknown>> | string {
    if (text.length > lineUnitsMax) return `is longer than ${lineUnitsMax} characters`
    if (!this.header) return objectIn(text) ?? 'is no JSON object'
    const { names } = this.header
    const fields = fieldsOf(text)
    if (fields.length !== names.length) {
      return `has ${fields.length} field${fields.length === 1 ? '' : 's'}, the header ${names.length}`
    }
    return Object.fromEntries(names.map((name, at) => [name, fields[at]]))
  }

  private counted(line: number, relation: Relation): RelationRow {
    const { follower, followee } = relation
    const { events, contradiction } = resolveRelation(relation)
    this.count++
    if (contradiction) this.contradicting[contradiction]++
    return { line, follower, followee, events, contradiction }
  }

  private refuse(line: number, problem: string): void {
    this.badCount++
    if (this.first.length < badLinesKept) this.first.push({ line, problem })
  }
}

async function* numbered(file: TextFile): AsyncGenerator<{ line: number; text: string }> {
  let line = 0
  for await (const whole of file.lines()) {
    line++
    const text = whole.trim()
    if (text !== '') yield { line, text }
  }
}

/** Ids and numbers hold no comma and no quote. */
const fieldsOf = (text: string): string[] =>
  text.split(',').map((field) => field.trim().replace(/^"(.*)"$/, '$1'))

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

const none = () =>
  Object.fromEntries(contradictions.map((kind) => [kind, 0])) as Record<Contradiction, number>
