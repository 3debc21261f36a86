import {
  MongoBulkWriteError,
  MongoDriverError,
  MongoError,
  MongoNetworkError,
  MongoServerError,
  MongoServerSelectionError,
} from 'mongodb'
import { DomainError } from '../errors.ts'
import { malformedData } from './object-id.ts'

const duplicateKeyCode = 11000
const writeConflictCode = 112
const maxTimeExpiredCode = 50
/** SnapshotTooOld, SnapshotUnavailable. */
const snapshotGoneCodes: ReadonlySet<unknown> = new Set([239, 246])

/**
 * Codes of temporary failures: the server is no longer primary, shuts down, cannot reach another
 * member, waits for a lock, or interrupted the command. The same command may succeed later.
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

/**
 * Those of {@link passingCodes} after which a read is sent once more, as the driver does.
 * @see
 *   https://github.com/mongodb/specifications/blob/master/source/retryable-reads/retryable-reads.md
 */
const interruptedReadCodes: ReadonlySet<unknown> = new Set([
  ...[6, 7, 89, 91, 134, 189, 262, 9001, 10107, 11600, 11602, 13435, 13436],
])

/**
 * Socket errors that the driver throws unchanged, for example on a connection that the server has
 * just closed.
 */
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

/** The cause of an error that the driver wrapped. A bulk write hides why no server answered. */
const rootCause = (error: unknown): unknown => {
  const cause: unknown = error instanceof MongoBulkWriteError ? error.errorResponse : undefined
  return cause instanceof MongoError || isSocketError(cause) ? cause : error
}

/** The driver does not export the class. */
const isWaitQueueTimeout = (error: unknown): boolean =>
  error instanceof MongoDriverError && error.name === 'MongoWaitQueueTimeoutError'

/** Whether a unique index refused a write. */
export const isDuplicateKey = (error: unknown): boolean =>
  error instanceof MongoServerError && error.code === duplicateKeyCode

/** Whether a command failed because the collection that it creates exists. */
export const isExistingCollection = (error: unknown): boolean =>
  error instanceof MongoServerError && error.codeName === 'NamespaceExists'

/**
 * The positions of the documents that a unique index refused, from the error of an unordered
 * insert.
 * @throws `error` itself if it has any other cause.
 */
export function duplicatePositions(error: unknown): number[] {
  if (!(error instanceof MongoBulkWriteError)) throw error
  const failed = [error.writeErrors].flat()
  const all = failed.every(({ code }) => code === duplicateKeyCode)
  if (failed.length === 0 || !all || error.result.getWriteConcernError()) throw error
  return failed.map(({ index }) => index)
}

/** Whether the server says that the transaction can be retried. */
export const isTransient = (error: unknown): boolean =>
  error instanceof MongoError && error.hasErrorLabel('TransientTransactionError')

/** Whether a write conflicts with an open or newer transaction on the same document. */
export const isWriteConflict = (error: unknown): boolean =>
  error instanceof MongoServerError && error.code === writeConflictCode

/** The values that a unique index refused, as text. Undefined for any other error. */
export const duplicateValues = (error: unknown): string | undefined =>
  error instanceof MongoServerError && error.code === duplicateKeyCode
    ? (error.errmsg ?? error.message)
    : undefined

/**
 * Whether a statement of a bulk write failed because of the document that it found. Another try
 * would fail too.
 */
export const isRefusedByData = (error: unknown): boolean =>
  error instanceof MongoBulkWriteError && !isCollision(error) && !isTransient(error)

/** Whether a command, or its wait for a majority, ended at `maxTimeMS`. */
export const isTimeExpired = (error: unknown): boolean =>
  (error instanceof MongoServerError && error.code === maxTimeExpiredCode) ||
  (error instanceof MongoBulkWriteError &&
    error.result.getWriteConcernError()?.code === maxTimeExpiredCode)

/**
 * Whether the server no longer keeps the snapshot of a read, or has no snapshot of this moment yet.
 */
export const isSnapshotGone = (error: unknown): boolean =>
  error instanceof MongoServerError && snapshotGoneCodes.has(error.code)

/** Whether the outcome of a commit is unknown. */
export const isCommitUnknown = (error: unknown): boolean =>
  error instanceof MongoError && error.hasErrorLabel('UnknownTransactionCommitResult')

/** Whether two writes collided. Each would succeed alone. */
export const isCollision = (error: unknown): boolean =>
  isDuplicateKey(error) || isWriteConflict(error)

/** The errors of a client that was closed, which the driver does not export. */
const closedNames: ReadonlySet<string> = new Set([
  'MongoClientClosedError',
  'MongoExpiredSessionError',
  'MongoNotConnectedError',
  'MongoPoolClosedError',
  'MongoTopologyClosedError',
])

/** Whether no server answered, or the client was closed. */
export function isDisconnected(error: unknown): boolean {
  const root = rootCause(error)
  return (
    root instanceof MongoServerSelectionError ||
    root instanceof MongoNetworkError ||
    isSocketError(root) ||
    (root instanceof MongoError && closedNames.has(root.name))
  )
}

/** As {@link isDisconnected}, also by the cause of an error for clients. */
export const isDatabaseAway = (error: unknown): boolean =>
  isDisconnected(error instanceof DomainError ? error.cause : error)

/** Whether the database could not be reached, or did not get the command done, in time. */
export function isUnreachable(error: unknown): boolean {
  const root = rootCause(error)
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

/** Whether a read may succeed if it is sent once more: its connection or its primary is gone. */
export const isInterruptedRead = (error: unknown): boolean =>
  error instanceof MongoNetworkError ||
  (error instanceof MongoServerError && interruptedReadCodes.has(error.code))

/**
 * The codes of operators that got a stored value of another type: of any operator, of an update
 * below a value without fields, of `$toObjectId`, and those that each operator of expressions has
 * for itself.
 */
const malformedCodes: ReadonlySet<unknown> = new Set([
  ...[14, 28, 241],
  ...[16554, 16556, 16883, 17043, 17047, 17048, 17124, 28651, 28664, 28689, 28724],
  ...[31393, 34435, 40081, 40228, 40400, 2942504],
])

/**
 * Whether the server could not work with a stored value, because it has another type than the code
 * reads.
 */
export function isMalformedData(error: unknown): boolean {
  const root = rootCause(error)
  return (
    (root instanceof MongoServerError || root instanceof MongoBulkWriteError) &&
    malformedCodes.has(root.code)
  )
}

/**
 * Converts a driver error for clients: UNAVAILABLE if the database was not reached in time,
 * NOT_FOUND if a stored value has another type. Undefined for a bug of Feedline. No other code
 * classifies driver errors for clients.
 */
export function clientErrorOf(error: unknown): DomainError | undefined {
  if (isUnreachable(error)) return noAnswer(error)
  return isMalformedData(error) ? malformedData(error) : undefined
}

/**
 * The error of a request that the database did not answer. @param aftermath the state of the
 * request, one sentence.
 */
export const noAnswer = (cause: unknown, aftermath = ''): DomainError =>
  new DomainError(
    'UNAVAILABLE',
    ['The database did not answer in time.', aftermath, 'Try again later.']
      .filter((sentence) => sentence !== '')
      .join(' '),
    { cause },
  )
