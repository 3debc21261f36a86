import type { Collections, JobDoc } from '../../db/collections.ts'
import type { Filter } from '../../db/mongo.ts'
import { fromObjectId } from '../../db/object-id.ts'
import type { Tx } from '../../db/transaction.ts'
import { jobsAbout, type NewJob } from '../../jobs/outbox.ts'
import { rangeKind } from '../../jobs/ranges.ts'
import type { PostId } from '../../lib/ids.ts'
import type { MaterialisedName } from '../strategies/list.ts'

/** A strategy that does not cover all readers. */
export interface IncompleteStrategy {
  readonly name: MaterialisedName
  readonly readers: { readonly done: number; readonly total: number }
  /**
   * The state of its back-fill. PARKED: its job or a range of it. RESTORED: the job was missing and
   * is enqueued now.
   */
  readonly job: 'WAITING' | 'PARKED' | 'RESTORED'
}

/** Matches the registrations that are not being dropped. */
export const maintained = { dropping: { $exists: false } } as const

/** The kind of the jobs that back-fill a strategy. */
export const backfillKind = 'strategy.backfill'

/** Matches the back-fill jobs of these strategies, or of all. By the index on kind and author. */
export const backfillJobs = (names?: readonly MaterialisedName[]) => ({
  ...jobsAbout(),
  kind: backfillKind,
  'payload.author': null,
  ...(names && { 'payload.strategy': { $in: [...names] } }),
})

/** Matches the same jobs, and those of their ranges. */
export const backfillsAndRanges = (names: readonly MaterialisedName[]): Filter<JobDoc> => ({
  ...backfillJobs(names),
  kind: { $in: [backfillKind, rangeKind(backfillKind)] },
})

/**
 * Loads the epoch and the job of a back-fill that has not ended. Two commands.
 * @returns undefined if the strategy is complete, or not maintained. Without `job` if its job is
 *   missing.
 */
export async function loadBackfill(
  { strategies, outbox }: Pick<Collections, 'strategies' | 'outbox'>,
  tx: Tx,
  name: MaterialisedName,
): Promise<{ readonly epoch: PostId; readonly job?: 'WAITING' | 'PARKED' } | undefined> {
  const found = await strategies.findOne({ _id: name, complete: false, ...maintained }, tx)
  if (!found) return undefined
  const epoch = fromObjectId<PostId>(found.epoch)
  const ofEpoch = { ...backfillsAndRanges([name]), 'payload.epoch': epoch }
  const jobs = await outbox.find(ofEpoch, tx).toArray()
  if (!jobs.some(({ kind }) => kind === backfillKind)) return { epoch }
  return { epoch, job: jobs.some(({ state }) => state === 'PARKED') ? 'PARKED' : 'WAITING' }
}

/** The jobs that back-fill these strategies. */
export const toBackfillJobs = (names: readonly MaterialisedName[], epoch: PostId): NewJob[] =>
  names.map((strategy) => ({ kind: backfillKind, payload: { strategy, epoch }, queue: 'BULK' }))
