import { requestTimeout } from '../../db/client.ts'
import type { Collections } from '../../db/collections.ts'
import type { Mechanisms } from '../../db/mechanisms.ts'
import type { Tx } from '../../db/transaction.ts'

/**
 * How long a transaction may be open, in milliseconds, with a margin for clocks. A back-fill that begins this long after
 * the first registration reads all posts of transactions that do not know the registration.
 */
export const transactionMsMax = 20_000

/**
 * Whether the posts of a transaction need jobs.
 * @returns false only if no strategy is registered in the snapshot of the transaction. Then a registration that commits
 *   later reads the posts with its back-fill: see {@link transactionMsMax}.
 */
export type NeedsJobs = (tx: Tx) => Promise<boolean>

/**
 * Reads whether posts need jobs. One command. None on a sharded cluster, and while a process of an earlier release may
 * begin a back-fill at once: all posts have jobs then.
 */
export const createNeedsJobs =
  (
    { strategies }: Pick<Collections, 'strategies'>,
    mechanisms: Pick<Mechanisms, 'isOn'>,
  ): NeedsJobs =>
  async (tx) =>
    !(await mechanisms.isOn('postsWithoutJobs')) ||
    (await strategies.findOne({}, { ...requestTimeout, ...tx, projection: { _id: 1 } })) !== null
