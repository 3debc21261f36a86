import { DomainError } from '../errors.ts'
import { clockSkewMaxMs } from '../lib/ids.ts'
import { transactionBounds } from './transaction.ts'

/**
 * The last try of a write begins within this time of the write, by the database's clock. In
 * milliseconds.
 */
const writeMsMax = 12_000

/**
 * How long after its start a write may still read the database, in milliseconds: until its
 * deadline, and for the time of a last try, the skew of two processes and two seconds more. What is
 * written later never becomes part of it.
 */
export const writesSettleMs =
  writeMsMax + transactionBounds.answerMsMax + 2 * clockSkewMaxMs + 2_000

/** A write with its deadline. */
export interface Timed {
  readonly deadline: Date
}

/**
 * Until when a try of a write may begin. @param beganAt in milliseconds since 1970, by the
 * database's clock.
 */
export const deadlineOf = (beganAt: number): Date => new Date(beganAt + writeMsMax)

/**
 * Whether no try of a write may begin any more. @param now in milliseconds since 1970, by the
 * database's clock.
 */
export const isLate = ({ deadline }: Timed, now: number): boolean => now >= deadline.getTime()

/** The answer to a write whose deadline has passed. */
export const tooLate = (): DomainError =>
  new DomainError('UNAVAILABLE', 'The write took too long. Nothing was changed. Try again.')
