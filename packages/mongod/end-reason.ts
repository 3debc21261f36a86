import { statfs } from 'node:fs/promises'
import { logFileOf, readLog } from './log.ts'

/** A disk with fewer free bytes is full: mongod allocates more at once. */
const freeBytesMin = 1024 ** 2
/** How much of the end of a log is about the end of mongod, in lines. */
const lastLines = 100

/**
 * Why a mongod that ran has ended: the end of a sentence, with the next step. The disk is asked
 * first, because a mongod whose disk is full can often not log it.
 */
export async function endReason(dataFolder: string): Promise<string> {
  const full = await fullDisk(dataFolder)
  if (full) return full
  const last = errorsIn(readLog(dataFolder).split('\n').slice(-lastLines)).at(-1)
  return last
    ? `${last}; its log is ${logFileOf(dataFolder)}`
    : 'it was killed, as the system does if memory is short; start again, with more memory'
}

/** That the disk of a data folder is full, and the next step. Undefined if it is not. */
export async function fullDisk(dataFolder: string): Promise<string | undefined> {
  const disk = await statfs(dataFolder).catch(() => undefined)
  if (!disk) return `the folder ${dataFolder} is gone; start again, which makes a new database`
  const isFull =
    disk.bavail * disk.bsize < freeBytesMin ||
    readLog(dataFolder)
      .split('\n')
      .slice(-lastLines)
      .some((line) => /No space left/.test(line))
  return isFull ? `the disk of ${dataFolder} is full; free some space and start again` : undefined
}

/**
 * The first error in a log of mongod, with its reason. Without one, the first line that is not
 * JSON.
 */
export function firstError(log: string): string | undefined {
  const lines = log.split('\n').filter((text) => text.trim() !== '')
  return errorsIn(lines)[0] ?? lines.find((line) => !parseEntry(line))?.trim()
}

function errorsIn(lines: readonly string[]): string[] {
  return lines.flatMap((line) => {
    const { s, msg, attr: { error, reason } = {} } = parseEntry(line) ?? {}
    if (s !== 'E' && s !== 'F') return []
    const why = typeof error === 'object' ? error.errmsg : error
    return `${msg}: ${why ?? reason ?? 'see the log'}`
  })
}

interface LogEntry {
  readonly s: string
  readonly msg: string
  readonly attr?: {
    readonly error?: string | { readonly errmsg?: string }
    readonly reason?: string
  }
}

function parseEntry(line: string): LogEntry | undefined {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}
