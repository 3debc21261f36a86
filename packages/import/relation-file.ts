import { z } from 'zod'
import type { EdgeSource, FollowEventDoc } from '../../src/db/collections.ts'
import { DomainError } from '../../src/errors.ts'
import { filledCount, namedSeparators, type Separator, splitFields } from './separated.ts'
import {
  type BadLines,
  fieldCount,
  type Line,
  lengthProblem,
  shortened,
  TextFile,
} from './text-file.ts'
import { type NamedBy, nameProblem, parseUserName, type UserName } from './user-names.ts'

/** The columns of the legacy table: `user_id` follows `target_user_id`. */
export const relationColumns = [
  'user_id',
  'target_user_id',
  'twitter_followed_at',
  'facebook_followed_at',
  'medium_followed_at',
  'medium_unfollowed_at',
  'latest_followed_at',
] as const
type Column = (typeof relationColumns)[number]

/** The ways in which the columns of one row disagree. */
export const contradictions = [
  'followed-not-counted',
  'unfollowed-still-counted',
  'never-followed',
  'latest-disagrees',
] as const
export type Contradiction = (typeof contradictions)[number]

/**
 * The sources of a relation. Of two follows at the same time, the one whose source is listed first
 * is earlier.
 */
export const relationSources = ['TWITTER', 'FACEBOOK', 'MEDIUM'] as const satisfies EdgeSource[]
type RelationSource = (typeof relationSources)[number]

/** The columns of one row. Times are in milliseconds since 1970; 0 is never. */
export interface Relation {
  readonly follower: UserName
  readonly followee: UserName
  readonly followedAt: Readonly<Record<RelationSource, number>>
  readonly unfollowedAt: number
  readonly latestFollowedAt: number
}

/** A follow or an unfollow. An unfollow has the source of the follow that it ends. */
export interface RelationEvent {
  readonly type: FollowEventDoc['type']
  readonly source: RelationSource
  readonly atMs: number
}

/** The history of a row, and how its columns contradict each other. */
export interface ResolvedRelation {
  /**
   * At most three, in the order of time. FOLLOWED and UNFOLLOWED alternate; the last one is the
   * current state.
   */
  readonly events: readonly RelationEvent[]
  readonly contradiction?: Contradiction | undefined
}

/**
 * Derives the history of a pair from the times of its row. Omits events that change nothing, so a
 * follow has the source of its first event. The latest event is the current state;
 * `latest_followed_at` does not decide it. If a follow and an unfollow have the same time, the
 * unfollow is later, as in Medium's table.
 */
export function resolveRelation(relation: Relation): ResolvedRelation {
  const { followedAt, unfollowedAt } = relation
  const follows = relationSources
    .filter((source) => followedAt[source] > 0)
    .map((source) => ({ source, atMs: followedAt[source] }))
    .sort((one, other) => one.atMs - other.atMs)
  const contradiction = contradictionOf(relation)
  const follow = (one: (typeof follows)[number] | undefined): RelationEvent[] =>
    one ? [{ type: 'FOLLOWED', ...one }] : []
  const [first] = follows
  if (!first || unfollowedAt < first.atMs) return { events: follow(first), contradiction }
  const again = follows.find(({ atMs }) => atMs > unfollowedAt)
  const end = { type: 'UNFOLLOWED', source: first.source, atMs: unfollowedAt } as const
  return { events: [...follow(first), end, ...follow(again)], contradiction }
}

/** The first two checks are Medium's own queries. */
function contradictionOf(relation: Relation): Contradiction | undefined {
  const { followedAt, unfollowedAt, latestFollowedAt: latest } = relation
  const greatest = Math.max(...Object.values(followedAt))
  const follows = greatest > unfollowedAt
  if (latest === 0 && follows) return 'followed-not-counted'
  if (latest > 0 && unfollowedAt > latest) return 'unfollowed-still-counted'
  if (unfollowedAt > 0 && greatest === 0) return 'never-followed'
  return latest === (follows ? greatest : 0) ? undefined : 'latest-disagrees'
}

/**
 * Parses the columns of a row. A missing column is empty.
 * @param nowMs milliseconds since 1970. A later time is a problem: writes after the import must be
 *   later than its rows.
 * @returns the relation, or the problem with the row.
 */
export function parseRelation(
  fields: Readonly<Record<string, unknown>>,
  nowMs: number,
  namedBy?: NamedBy,
): Relation | string {
  const unknown = Object.keys(fields).find((name) => !isColumn(name))
  if (unknown !== undefined) return unknownColumn(unknown)
  const names = (['user_id', 'target_user_id'] as const).map((column) =>
    nameIn(fields, column, namedBy),
  )
  const times = timeColumns.map((column) => timeIn(fields, column, nowMs))
  const problem = [...names, ...times].find((one) => typeof one === 'object')
  if (problem) return problem.problem
  const [follower, followee] = names as [UserName, UserName]
  if (follower === followee) return `"${shortened(follower)}" would follow itself`
  const [TWITTER, FACEBOOK, MEDIUM, unfollowedAt, latestFollowedAt] = times as Times
  const followedAt = { TWITTER, FACEBOOK, MEDIUM }
  return { follower, followee, followedAt, unfollowedAt, latestFollowedAt }
}

/** Returns the problem with the column names of a header, or undefined. */
function headerProblem(names: readonly string[]): string | undefined {
  const absent = relationColumns.slice(0, 2).find((column) => !names.includes(column))
  if (absent) return `is not a header: the column ${absent} is missing`
  const unknown = names.find((name) => !isColumn(name))
  if (unknown !== undefined) return unknownColumn(unknown)
  const twice = names.find((name, at) => names.indexOf(name) !== at)
  return twice === undefined ? undefined : `names the column ${twice} twice`
}

type Times = [number, number, number, number, number]
interface Problem {
  readonly problem: string
}

const [, , ...timeColumns] = relationColumns
const isColumn = (name: string) => (relationColumns as readonly string[]).includes(name)
const unknownColumn = (name: string) =>
  `"${shortened(name)}" is not a known column. Known columns: ${relationColumns.join(', ')}`

function nameIn(
  fields: Readonly<Record<string, unknown>>,
  column: Column,
  namedBy: NamedBy,
): UserName | Problem {
  const value = fields[column]
  if (typeof value === 'number' && !Number.isSafeInteger(value))
    return { problem: `${column}: ${quoted(value)} may have lost digits: write it in quotes` }
  const name = parseUserName(textOf(value) ?? '', namedBy)
  return name ?? { problem: `${column}: ${quoted(value)} ${nameProblem(namedBy)}` }
}

/** None of the three sources existed before. An earlier time is in seconds, not in milliseconds. */
const earliestMs = Date.UTC(2000)
const isoTime = z.union([z.iso.datetime({ offset: true }), z.iso.date()])

function timeIn(
  fields: Readonly<Record<string, unknown>>,
  column: Column,
  nowMs: number,
): number | Problem {
  const text = textOf(fields[column] ?? '')
  if (text === '' || text?.toLowerCase() === 'null') return 0
  const wrong = (what: string): Problem => ({
    problem: `${column}: ${quoted(fields[column])} ${what}`,
  })
  const atMs = text === undefined ? Number.NaN : millisecondsOf(text)
  if (Number.isNaN(atMs)) return wrong('is neither epoch milliseconds nor ISO 8601 with a zone')
  if (atMs === 0) return 0
  if (atMs < earliestMs) return wrong('is before 2000: epoch times are in milliseconds')
  return atMs > nowMs ? wrong('is in the future') : atMs
}

function millisecondsOf(text: string): number {
  if (/^\d+$/.test(text)) return Number(text)
  return isoTime.safeParse(text).success ? Date.parse(text) : Number.NaN
}

const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' || typeof value === 'number' ? String(value).trim() : undefined

const quoted = (value: unknown) =>
  value === undefined ? 'nothing' : shortened(JSON.stringify(value) ?? String(value))

/** A row of a file, with the history that it describes. */
export interface RelationRow
  extends Pick<ResolvedRelation, 'events'>,
    Pick<Relation, 'follower' | 'followee'>,
    Pick<Line, 'line'> {}

/** What a stream of rows has found so far. */
export interface RelationFindings {
  /** Lines that hold a relation. */
  readonly rows: number
  /** How many of these rows contradict themselves, by kind. */
  readonly contradictions: Readonly<Record<Contradiction, number>>
  readonly bad: BadLines
  /** All lines: the sum of the others. */
  readonly lines: Readonly<Record<'read' | 'rows' | 'headings' | 'empty' | 'invalid', number>>
}

const noFindings = () => ({
  rows: 0,
  headings: 0,
  contradictions: Object.fromEntries(contradictions.map((kind) => [kind, 0])) as Record<
    Contradiction,
    number
  >,
})

/** The columns of a CSV file. */
interface Header {
  readonly names: readonly string[]
  readonly separator: Separator
}

const expected = {
  sentence: 'Give a CSV file with a header, or JSON with one object a line.',
  reads: /^\s*\{/,
}

/**
 * Reads the header with the separator that makes one of it. @returns the problem with the line if
 * none does.
 */
function readHeader(text: string, separators: readonly Separator[]): Header | string {
  let problem: string | undefined
  for (const separator of separators) {
    const fields = splitFields(text, separator)
    if (typeof fields === 'string') {
      problem ??= fields
      continue
    }
    const names = fields.slice(0, filledCount(fields)).map((name) => name.toLowerCase())
    const problemHere = headerProblem(names)
    if (!problemHere) return { names, separator }
    // The first separator is the usual one, unless another one parts several columns.
    if (problem === undefined || names.length > 1) problem = problemHere
  }
  return problem ?? ''
}

/**
 * A file of relations: CSV with a header line, or JSONL. One separator holds for a CSV file:
 * commas, semicolons, tabs, pipes, or what a first line `sep=` names. Blank lines are skipped.
 */
export class RelationFile {
  private found = noFindings()

  private constructor(
    readonly file: TextFile,
    /** The columns of a CSV file, and the line that names them. */
    private readonly header: (Header & Pick<Line, 'line'>) | undefined,
    private readonly namedBy: NamedBy,
  ) {}

  /**
   * Opens a file and reads its first line.
   * @throws {DomainError} BAD_USER_INPUT if the file cannot be read, or its header names other
   *   columns.
   */
  static async open(path: string, namedBy?: NamedBy): Promise<RelationFile> {
    const file = await TextFile.open(path, expected)
    let named: readonly Separator[] | undefined
    for await (const { line, text } of file.lines()) {
      if (text.startsWith('{')) break
      const separators = named ? undefined : namedSeparators(text)
      if (separators) {
        named = separators
        continue
      }
      const header = readHeader(text, named ?? [',', ';', '\t', '|'])
      if (typeof header === 'string')
        throw new DomainError('BAD_USER_INPUT', `${path}: line ${line} ${header}`)
      return new RelationFile(file, { line, ...header }, namedBy)
    }
    return new RelationFile(file, undefined, namedBy)
  }

  /** The findings of the latest stream of {@link rows}. */
  get findings(): RelationFindings {
    const { bad, lineCount: read } = this.file
    const { headings, rows, contradictions } = this.found
    const empty = read - rows - headings - bad.count
    const lines = { read, rows, headings, empty, invalid: bad.count }
    return { rows, contradictions, bad, lines }
  }

  /**
   * Streams every row in the order of the file, with duplicates.
   * @param nowMs as in {@link parseRelation}.
   */
  async *rows(nowMs: number): AsyncGenerator<RelationRow> {
    const findings = noFindings()
    this.found = findings
    const relations = this.file.rows(({ line, text }) => {
      if (this.header && line <= this.header.line) {
        findings.headings++
        return undefined
      }
      const fields = this.columnsOf(text)
      if (fields === undefined) return undefined
      return typeof fields === 'string' ? fields : parseRelation(fields, nowMs, this.namedBy)
    })
    for await (const { line, follower, followee, ...times } of relations) {
      const { events, contradiction } = resolveRelation({ follower, followee, ...times })
      findings.rows++
      if (contradiction) findings.contradictions[contradiction]++
      yield { line, follower, followee, events }
    }
  }

  /**
   * Returns the columns of a line, the problem with the line, or undefined if all fields are empty.
   */
  private columnsOf(text: string): Readonly<Record<string, unknown>> | string | undefined {
    const tooLong = lengthProblem(text)
    if (tooLong) return tooLong
    if (!this.header) return objectIn(text) ?? 'is no JSON object'
    const { names, separator } = this.header
    const fields = splitFields(text, separator)
    if (typeof fields === 'string') return fields
    const count = filledCount(fields)
    if (count === 0) return undefined
    if (fields.length < names.length || count > names.length) {
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
