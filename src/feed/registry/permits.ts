import { requestTimeout } from '../../db/client.ts'
import type { Collections } from '../../db/collections.ts'
import { jobsAbout } from '../../jobs/outbox.ts'

/** The kind of the jobs that let processes leave out the jobs of posts. Persisted. */
export const permitKind = 'timelines.permit'

/**
 * How long a permit is leased, in milliseconds: longer than a transaction may take that began under it. So a change of
 * the set of strategies that waits for this long comes after all transactions that do not know it.
 */
export const permitMs = 20_000

/** Whether a process may be publishing posts without jobs. One command. */
export const arePermitsHeld = async ({ outbox }: Pick<Collections, 'outbox'>): Promise<boolean> =>
  (await outbox.findOne(
    { ...jobsAbout(), kind: permitKind, 'payload.author': null },
    { ...requestTimeout, projection: { _id: 1 } },
  )) !== null
