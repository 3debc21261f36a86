import { createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'
import { pipeline } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { DomainError } from '../../src/errors.ts'
import { binaryFormat, type Encoding, encodingOf, textFormat } from './file-format.ts'

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

/**
 * The lines of a file that hold no row: their number, and the problems of the first
 * {@link badLinesKept}.
 */
export class BadLines {
  count = 0
  readonly first: { readonly line: number; readonly problem: string }[] = []

  add(line: number, problem: string): void {
    this.count++
    if (this.first.length < badLinesKept) this.first.push({ line, problem })
  }
}

/** What the reader of a file expects of it. */
interface ExpectedText {
  /** What to give instead of a file of another format. */
  readonly sentence: string
  /** How texts begin that are read, though {@link textFormat} knows them. */
  readonly reads?: RegExp
}

/**
 * A text file in UTF-8 or UTF-16, gzipped or not, read line by line. Lines end with LF, CRLF or CR.
 */
export class TextFile {
  private read = 0
  private ended = 0
  private found = new BadLines()
  private encoding: Encoding = 'utf-8'

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
   * @param expected what the file must hold, as a sentence, and the beginning of texts that are
   *   read all the same.
   * @throws {DomainError} BAD_USER_INPUT if the path is not a readable file, or its first bytes are
   *   of another format.
   */
  static async open(path: string, expected: ExpectedText): Promise<TextFile> {
    try {
      await using file = await open(path)
      const stat = await file.stat()
      if (!stat.isFile()) throw new DomainError('BAD_USER_INPUT', `${path} is not a file`)
      const { buffer, bytesRead } = await file.read(Buffer.alloc(2), 0, 2, 0)
      const magic = bytesRead === 2 && buffer.readUInt16BE() === gzipMagic
      const text = new TextFile(path, stat.size, stat.mtimeMs, magic || path.endsWith('.gz'))
      await text.expectText(expected)
      return text
    } catch (error) {
      throw problemOf(path, error)
    }
  }

  /** How many of {@link sizeBytes} the latest stream of lines has read. */
  get bytesRead(): number {
    return this.read
  }

  /** How many lines the latest stream of lines has read, blank ones too. */
  get lineCount(): number {
    return this.ended
  }

  /**
   * Streams the lines that are not blank, in order. Holds one chunk and one line of the file in
   * memory.
   * @throws {DomainError} BAD_USER_INPUT if the file cannot be read to its end.
   */
  async *lines(): AsyncGenerator<Line> {
    let line = 0
    this.ended = 0
    for await (const texts of this.chunks()) {
      for (const whole of texts) {
        this.ended = ++line
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
   * @param parse returns the row of a line, the problem with a bad line, or undefined for a line to
   *   skip.
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
    const decoder = new TextDecoder(this.encoding)
    let rest = ''
    try {
      for await (const chunk of this.bytes()) {
        // A CR at the end of a chunk may belong to a CRLF.
        const lines = (rest + decoder.decode(chunk, { stream: true })).split(/\r\n|\n|\r(?!$)/)
        rest = cut(lines.pop() ?? '')
        yield lines
      }
    } catch (error) {
      throw problemOf(this.path, error)
    }
    const last = (rest + decoder.decode()).replace(/\r$/, '')
    if (last !== '' || rest !== '') yield [last]
  }

  /**
   * Reads the encoding from the first bytes. @throws {DomainError} BAD_USER_INPUT if they hold no
   * lines of text.
   */
  private async expectText({ sentence, reads }: ExpectedText): Promise<void> {
    for await (const bytes of this.bytes()) {
      this.encoding = encodingOf(bytes)
      const text = new TextDecoder(this.encoding).decode(bytes)
      const format = binaryFormat(bytes, this.encoding) ?? (!reads?.test(text) && textFormat(text))
      if (!format) return
      throw new DomainError('BAD_USER_INPUT', `${this.path} is ${format}. ${sentence}`)
    }
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
