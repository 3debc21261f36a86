import { DomainError } from '../errors.ts'
import { clockSkewMaxMs, type EngagementId, timeOf } from '../lib/ids.ts'
import { writesSettleMs } from '../users/users.ts'

/** An entry is stored within this time of its id, by the database's clock, or never. In milliseconds. */
const storedMsMax = 12_000

/**
 * After this time no command is under way that may still store the entry: with the longest that one may take. An id may
 * be ahead of the database's clock.
 */
export const settledMs = writesSettleMs - clockSkewMaxMs

/** Up to when an entry may be stored, by the database's clock. */
export const deadlineOf = (id: EngagementId): Date => new Date(timeOf(id).getTime() + storedMsMax)

/** The answer to a write that came to the database too late. */
export const tooLate = (): DomainError =>
  new DomainError('UNAVAILABLE', 'The write took too long. Nothing was changed. Try again.')
