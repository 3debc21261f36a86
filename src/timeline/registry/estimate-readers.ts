import { setTimeout as sleep } from 'node:timers/promises'
import { requestTimeout } from '../../db/client.ts'
import type { Collections } from '../../db/collections.ts'

/** How long a caller waits for the estimated number of readers, in milliseconds. */
const estimateMsMax = 1_000

/**
 * Estimates the number of readers, to show progress and to cut ranges. 0 if that fails or takes
 * longer than 1 s. One command.
 */
export async function estimateReaders({
  user_stats,
}: Pick<Collections, 'user_stats'>): Promise<number> {
  const estimate = user_stats.estimatedDocumentCount(requestTimeout).catch(() => 0)
  return Promise.race([estimate, sleep(estimateMsMax, 0, { ref: false })])
}
