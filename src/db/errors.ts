import {
  MongoBulkWriteError,
  MongoDriverError,
  MongoError,
  MongoNetworkError,
  MongoServerError,
  MongoServerSelectionError,
} from 'mongodb'
import { DomainError } from '../errors.ts'

const duplicateKeyCode = 11000
const writeConflictCode = 112
const maxTimeExpiredCode = 50
/** SnapshotTooOld, SnapshotUnavailable. */
const snapshotGoneCodes: ReadonlySet<unknown> = new Set([239, 246])

/**
 * Codes of a database that did not get something done in time: the server is no primary now, shuts down, cannot reach
 * another member, waits for a lock, or interrupted the command. The same command may succeed later.
 */
const passingCodes: ReadonlySet<unknown> = new Set([
  6, // HostUnreachable
  7, // HostNotFound
  24, // LockTimeout
  43, // CursorNotFound: the cursor was on a primary that is gone
  50, // MaxTimeMSExpired
  64, // WriteConcernFailed: no majority in time
  89, // NetworkTimeout
  91, // ShutdownInProgress
  112, // WriteConflict
  133, // FailedToSatisfyReadPreference
  134, // ReadConcernMajorityNotAvailableYet
  175, // QueryPlanKilled
  189, // PrimarySteppedDown
  202, // NetworkInterfaceExceededTimeLimit
  237, // CursorKilled
  246, // SnapshotUnavailable
  251, // NoSuchTransaction: the server ended it
  262, // ExceededTimeLimit
  290, // TransactionExceededLifetimeLimitSeconds
  9001, // SocketException
  10107, // NotWritablePrimary
  11600, // InterruptedAtShutdown
  11601, // Interrupted
  11602, // InterruptedDueToReplStateChange
  13435, // NotPrimaryNoSecondaryOk
  13436, // NotPrimaryOrSecondary
])

/** Errors of a socket that the driver passes on as they are: it writes to a connection that the server has just closed. */
const socketCodes: ReadonlySet<unknown> = new Set([
  'ECONNABORTED',
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ERR_STREAM_DESTROYED',
  'ERR_STREAM_WRITE_AFTER_END',
  'ETIMEDOUT',
])
const isSocketError = (error: unknown): boolean =>
  error instanceof Error && socketCodes.has((error as NodeJS.ErrnoException).code)

/** The error behind one that the driver wrapped: a bulk write hides why no server answered it. */
const rootOf = (error: unknown): unknown => {
  const cause: unknown = error instanceof MongoBulkWriteError ? error.errorResponse : undefined
  return cause instanceof MongoError || isSocketError(cause) ? cause : error
}

/** The driver does not export the class. */
const isWaitQueueTimeout = (error: unknown): boolean =>
  error instanceof MongoDriverError && error.name === 'MongoWaitQueueTimeoutError'

/** Whether a write met a document that a unique index holds already. */
export const isDuplicateKey = (error: unknown): boolean =>
  error instanceof MongoServerError && error.code === duplicateKeyCode

/** Those of an unordered insert's documents, by position, that were there already. Throws an error that says anything else. */
export function repeatsIn(error: unknown): number[] {
  if (!(error instanceof MongoBulkWriteError)) throw error
  const failed = [error.writeErrors].flat()
  const all = failed.every(({ code }) => code === duplicateKeyCode)
  if (failed.length === 0 || !all || error.result.getWriteConcernError()) throw error
  return failed.map(({ index }) => index)
}

/** Whether the server said that a transaction may simply be tried again. */
export const isTransient = (error: unknown): boolean =>
  error instanceof MongoError && error.hasErrorLabel('TransientTransactionError')

/** Whether a write met a document that an open or newer transaction has changed. */
export const isWriteConflict = (error: unknown): boolean =>
  error instanceof MongoServerError && error.code === writeConflictCode

/** Which values a unique index refused, as text; undefined for any other error. */
export const duplicateOf = (error: unknown): string | undefined =>
  error instanceof MongoServerError && error.code === duplicateKeyCode
    ? (error.errmsg ?? error.message)
    : undefined

/** Whether the server gave up on a command, or on the majority it waited for, at `maxTimeMS`. */
export const isTimeExpired = (error: unknown): boolean =>
  (error instanceof MongoServerError && error.code === maxTimeExpiredCode) ||
  (error instanceof MongoBulkWriteError &&
    error.result.getWriteConcernError()?.code === maxTimeExpiredCode)

/** Whether the server keeps nothing as old as a snapshot any more, or has none of this moment yet. */
export const isSnapshotGone = (error: unknown): boolean =>
  error instanceof MongoServerError && snapshotGoneCodes.has(error.code)

/** Whether it is unknown if a commit took effect. */
export const isCommitUnknown = (error: unknown): boolean =>
  error instanceof MongoError && error.hasErrorLabel('UnknownTransactionCommitResult')

/** Whether two writes met: each would succeed alone. */
export const isCollision = (error: unknown): boolean =>
  isDuplicateKey(error) || isWriteConflict(error)

/** Whether the database could not be reached, or did not get the command done, in time. */
export function isUnreachable(error: unknown): boolean {
  const root = rootOf(error)
  return (
    root instanceof MongoServerSelectionError ||
    root instanceof MongoNetworkError ||
    isSocketError(root) ||
    isWaitQueueTimeout(root) ||
    isTransient(root) ||
    (root instanceof MongoServerError &&
      (passingCodes.has(root.code) || root.hasErrorLabel('RetryableWriteError')))
  )
}

/**
 * What a driver error means to a client: UNAVAILABLE when the database could not be reached in time,
 * undefined when it is a fault of ours. The only place where driver errors are told apart for clients.
 */
export const clientErrorOf = (error: unknown): DomainError | undefined =>
  isUnreachable(error) ? noAnswer(error) : undefined

/** @param aftermath what became of the request, one sentence. */
export const noAnswer = (cause: unknown, aftermath = ''): DomainError =>
  new DomainError(
    'UNAVAILABLE',
    ['The database did not answer in time.', aftermath, 'Try again later.']
      .filter((sentence) => sentence !== '')
      .join(' '),
    { cause },
  )
