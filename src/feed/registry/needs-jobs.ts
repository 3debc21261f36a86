import { requestTimeout } from '../../db/client.ts'
import type { Collections } from '../../db/collections.ts'
import type { Mechanisms } from '../../db/mechanisms.ts'
import type { NeedsJobs } from '../../posts/publish-posts.ts'

/**
 * How long a transaction may be open, in milliseconds, with a margin for clocks. A back-fill that begins this long after
 * the first registration reads all posts of transactions that do not know the registration.
 */
export const transactionMsMax = 20_000

/**
 * Reads in the snapshot of a transaction whether its posts need jobs. They do if a strategy is registered, also while it
 * is dropped. A later one waits for {@link transactionMsMax}. One command. None on a sharded cluster, and while a process of an earlier release may
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
