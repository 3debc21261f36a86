import { createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'
import { pipeline } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { DomainError } from '../errors.ts'

/**
 * The longest line that is handed out whole, in UTF-16 units; a longer one comes cut to one more.
 */
export const lineUnitsMax = 4_096

/** A text file, gzipped or not, read line by line. */
export class TextFile {
  private read = 0

  private constructor(
    readonly path: string,
    /** On disk, so compressed where it is gzipped. */
    readonly sizeBytes: number,
    /** When it was last written, in milliseconds since 1970. */
    readonly modifiedMs: number,
    private readonly zipped: boolean,
  ) {}

  /**
   * Opens what is named `.gz` or begins like gzip as gzip, anything else as UTF-8.
   * @throws {DomainError} BAD_USER_INPUT when it is not there or not a readable file.
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

  /** How many of {@link sizeBytes} the latest walk has consumed. */
  get bytesRead(): number {
    return this.read
  }

  /**
   * Every line in order, without its end. Holds one chunk and one line, whatever the size of the
   * file.
   * @throws {DomainError} BAD_USER_INPUT when the file cannot be read to its end.
   */
  async *lines(): AsyncGenerator<string> {
    const decoder = new TextDecoder()
    let rest = ''
    try {
      for await (const chunk of this.bytes()) {
        const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n')
        rest = cut(lines.pop() ?? '')
        for (const line of lines) yield cut(line)
      }
    } catch (error) {
      throw problemOf(this.path, error)
    }
    rest += decoder.decode()
    if (rest !== '') yield cut(rest)
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

const gzipMagic = 0x1f8b

const cut = (line: string) =>
  line.length > lineUnitsMax + 1 ? line.slice(0, lineUnitsMax + 1) : line

function problemOf(path: string, error: unknown): unknown {
  const { code, syscall } = error as NodeJS.ErrnoException
  if (code?.startsWith('Z_')) {
    return new DomainError('BAD_USER_INPUT', `${path} is not a gzip file, or is damaged`, {
      cause: error,
    })
  }
  return syscall && code
    ? new DomainError('BAD_USER_INPUT', `${path} cannot be read (${code})`, { cause: error })
    : error
}
