import { isInJob, runInTime } from '../request-scope.ts'
import { eachKey, GroupCommit } from './group-commit.ts'

/**
 * Combines reads of concurrent requests. Jobs share reads with jobs only, because their reads wait for what the jobs'
 * transactions wrote. Reads that arrive while a read is under way share the next one, so a command
 * answers only reads that were asked for before it was sent. It has the time of a command, whatever time its first
 * request has left.
 * @param read receives the keys of all reads of a batch, with repeats.
 * @param batchMax the most reads that share a command.
 * @returns a read whose result may hold more than was asked for.
 */
export function shareReads<K, Found>(
  name: string,
  read: (keys: readonly K[]) => Promise<Found>,
  batchMax = 64,
): (keys: readonly K[]) => Promise<Found> {
  const bounds = {
    name,
    batchMax,
    waitingMax: 20_000,
    waitMsMax: 5_000,
    lingerMs: 1,
    begins: 'IN_TURNS',
  } as const
  const reads = new GroupCommit<readonly K[], Found>(
    eachKey(async (_, batch) => {
      const found = await runInTime(undefined, () => read(batch.flat()))
      return batch.map(() => found as Awaited<Found>)
    }),
    bounds,
  )
  return (keys) => reads.submit(isInJob() ? 'jobs' : 'requests', keys)
}
