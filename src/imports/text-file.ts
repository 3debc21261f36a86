import { createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'
import { pipeline } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { CsvError, parse } from 'csv-parse/sync'
import { DomainError } from '../errors.ts'

/** The longest complete line, in UTF-16 units. A longer line is cut to one unit more. */
export const lineUnitsMax = 4_096

/** One line of a file, trimmed. */
export interface Line {
  /** From 1, counting every line of the file. */
  readonly line: number
  readonly text: string
}

/** How many bad lines a report names. */
export const badLinesKept = 20

/** The lines of a file that hold no row: their number, and the problems of the first {@link badLinesKept}. */
export class BadLines {
  count = 0
  readonly first: { readonly line: number; readonly problem: string }[] = []

  add(line: number, problem: string): void {
    this.count++
    if (this.first.length < badLinesKept) this.first.push({ line, problem })
  }
}

/** A text file in UTF-8, gzipped or not, read line by line. */
export class TextFile {
  private read = 0
  private found = new BadLines()

  private constructor(
    readonly path: string,
    /** On disk: the compressed size of a gzipped file. */
    readonly sizeBytes: number,
    /** The last change of the file, in milliseconds since 1970. */
    readonly modifiedMs: number,
    private readonly zipped: boolean,
  ) {}

  /**
   * Opens a file. A name that ends in `.gz` or the first two bytes identify gzip.
   * @throws {DomainError} BAD_USER_INPUT if the path is not a readable file.
   */
  static async open(path: string): Promise<TextFile> {
    try {
      await using file = await open(path)
      const stat = await file.stat()
      if (!stat.isFile()) throw new DomainError('BAD_USER_INPUT', `${path} is not a file`)
      const { buffer, bytesRead } = await file.read(Buffer.alloc(2), 0, 2, 0)
      const magic = bytesRead === 2 && buffer.readUInt16BE() === gzipMagic
      return new TextFile(path, stat.size, stat.mtimeMs, magic || path.endsWith('.gz'))
    } catch (error) {
      throw problemOf(path, error)
    }
  }

  /** How many of {@link sizeBytes} the latest stream of lines has read. */
  get bytesRead(): number {
    return this.read
  }

  /**
   * Streams the lines that are not blank, in order. Holds one chunk and one line of the file in memory.
   * @throws {DomainError} BAD_USER_INPUT if the file cannot be read to its end.
   */
  async *lines(): AsyncGenerator<Line> {
    let line = 0
    for await (const texts of this.chunks()) {
      for (const whole of texts) {
        line++
        const text = cut(whole).trim()
        if (text !== '') yield { line, text }
      }
    }
  }

  /** The bad lines that the latest stream of {@link rows} has found so far. */
  get bad(): BadLines {
    return this.found
  }

  /**
   * Streams what the lines hold, each with its number, as {@link lines} does.
   * @param parse returns the row of a line, the problem with a bad line, or undefined for a line to skip.
   */
  async *rows<Row extends object>(
    parse: (line: Line) => Row | string | undefined,
  ): AsyncGenerator<Row & Pick<Line, 'line'>> {
    const bad = new BadLines()
    this.found = bad
    for await (const line of this.lines()) {
      const row = parse(line)
      if (typeof row === 'string') bad.add(line.line, row)
      else if (row) yield { ...row, line: line.line }
    }
  }

  /** Splits each chunk of the file into the lines that end in it. */
  private async *chunks(): AsyncGenerator<readonly string[]> {
    const decoder = new TextDecoder()
    let rest = ''
    try {
      for await (const chunk of this.bytes()) {
        const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n')
        rest = cut(lines.pop() ?? '')
        yield lines
      }
    } catch (error) {
      throw problemOf(this.path, error)
    }
    yield [rest + decoder.decode()]
  }

  private bytes(): AsyncIterable<Buffer> {
    this.read = 0
    const file = createReadStream(this.path)
    file.on('data', (chunk) => {
      this.read += chunk.length
    })
    file.pause()
    return this.zipped ? pipeline(file, createGunzip(), () => {}) : file
  }
}

/** The problem with a line of more than {@link lineUnitsMax}, or undefined. */
export const lengthProblem = (text: string): string | undefined =>
  text.length > lineUnitsMax ? `is longer than ${lineUnitsMax} characters` : undefined

/** The problem with a line whose quotes are wrong. */
export const quoteProblem = 'has a quote that is not closed, or one within a field'

/**
 * Splits a CSV line. A quoted field may hold commas and doubled quotes, but no line end.
 * @returns the fields, or the problem with the line.
 */
export function splitCsv(line: string): string[] | string {
  // The parser takes a hundred times as long: 21 µs instead of 0.2 µs for a line of seven fields.
  if (!line.includes('"')) return line.split(',').map((field) => field.trim())
  try {
    return parse(line, { trim: true, relax_column_count: true })[0] ?? []
  } catch (error) {
    if (error instanceof CsvError) return quoteProblem
    throw error
  }
}

/** At most 80 characters of a text, to quote in a problem. */
export const shortened = (text: string): string =>
  text.length > 80 ? `${text.slice(0, 80)}…` : text

/** Names a number of fields. */
export const fieldCount = (count: number): string => `${count} field${count === 1 ? '' : 's'}`

const gzipMagic = 0x1f8b

const cut = (line: string) =>
  line.length > lineUnitsMax + 1 ? line.slice(0, lineUnitsMax + 1) : line

function problemOf(path: string, cause: unknown): unknown {
  const { code, syscall } = cause as NodeJS.ErrnoException
  const problem = (text: string) => new DomainError('BAD_USER_INPUT', `${path} ${text}`, { cause })
  if (code?.startsWith('Z_')) return problem('is not a gzip file, or is damaged')
  return syscall && code ? problem(`cannot be read (${code})`) : cause
}
