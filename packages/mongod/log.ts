import {
  copyFileSync,
  existsSync,
  openSync,
  readFileSync,
  renameSync,
  statSync,
  truncateSync,
} from 'node:fs'
import { join } from 'node:path'

/**
 * The size from which a log is moved to the previous one, in bytes. So both together stay near
 * twice this size.
 */
export const logBytesMax = 8 * 1024 ** 2

/** Slow commands are logged with their documents, so only the owner may read the log. */
const ownerOnly = 0o600

/** The log of a data folder's mongod. The previous log is kept beside it. */
export const logFileOf = (dataFolder: string): string => join(dataFolder, 'mongod.log')

const previousOf = (dataFolder: string): string => `${logFileOf(dataFolder)}.old`

/**
 * Opens a new log for appending, and keeps the last one as the previous log. @returns the file
 * descriptor.
 */
export function openLog(dataFolder: string): number {
  const logFile = logFileOf(dataFolder)
  if (existsSync(logFile)) renameSync(logFile, previousOf(dataFolder))
  return openSync(logFile, 'a', ownerOnly)
}

/**
 * Empties the log into the previous one if it is too large, while mongod writes to it. Lines that
 * mongod writes during the copy may be lost. A log that cannot be emptied stays.
 */
export function limitLog(dataFolder: string, bytesMax = logBytesMax): void {
  const logFile = logFileOf(dataFolder)
  try {
    if (statSync(logFile).size <= bytesMax) return
    copyFileSync(logFile, previousOf(dataFolder))
    truncateSync(logFile)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === undefined) throw error
  }
}

/** The text of a data folder's mongod log, empty if there is none. */
export function readLog(dataFolder: string): string {
  const file = logFileOf(dataFolder)
  return existsSync(file) ? readFileSync(file, 'utf8') : ''
}
