import { currentTime, isInJob, runInTime } from '../request-scope.ts'
import { eachKey, GroupCommit } from './group-commit.ts'

/**
 * Combines reads of concurrent requests. Jobs share reads with jobs only, because their reads wait
 * for what the jobs' transactions wrote. Reads that arrive while a read is under way share the next
 * one, so a command answers only reads that were asked for before it was sent. It has the time of a
 * command, whatever time its first request has left.
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

/** Number of keys up to which a read shares a command with others. */
const fewKeys = 4

/**
 * As {@link shareReads}, for reads of mostly one key, such as those for the answer to a mutation. A
 * read of more than four keys has a command of its own, so that no read waits for many documents of
 * others.
 * @param read receives at most 128 keys, with repeats. It converts nothing: what is malformed fails
 *   no other.
 * @returns a read that throws if the time of its request has ended.
 */
export function shareFewKeys<K, Found>(
  name: string,
  read: (keys: readonly K[]) => Promise<Found>,
): (keys: readonly K[]) => Promise<Found> {
  const share = shareReads(name, read, 32)
  return async (keys) => {
    if (keys.length > fewKeys) return read(keys)
    currentTime()?.remainingMs()
    return share(keys)
  }
}
