import {
  MongoBulkWriteError,
  MongoError,
  MongoNetworkError,
  MongoServerError,
  MongoServerSelectionError,
} from 'mongodb'
import { DomainError } from '../errors.ts'

const duplicateKeyCode = 11000
const maxTimeExpiredCode = 50
/** SnapshotTooOld, SnapshotUnavailable. */
const snapshotGoneCodes: ReadonlySet<unknown> = new Set([239, 246])

/** What a server says that is not the primary now, shuts down or cannot reach another: the driver repeats a read once. */
const passingCodes: ReadonlySet<unknown> = new Set([
  6, 7, 89, 91, 134, 189, 262, 9001, 10107, 11600, 11602, 13435, 13436,
])

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
  error instanceof MongoServerError && error.code === 112

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

/**
 * What a driver error means to a client: UNAVAILABLE when the database could not be reached in time,
 * undefined when it is a fault of ours. The only place where driver errors are told apart for clients.
 */
export function clientErrorOf(error: unknown): DomainError | undefined {
  const unavailable =
    error instanceof MongoServerSelectionError ||
    error instanceof MongoNetworkError ||
    isTransient(error) ||
    (error instanceof MongoServerError &&
      (error.code === maxTimeExpiredCode ||
        passingCodes.has(error.code) ||
        error.hasErrorLabel('RetryableWriteError')))
  return unavailable
    ? new DomainError('UNAVAILABLE', 'The database did not answer in time. Try again later.', {
        cause: error,
      })
    : undefined
}
