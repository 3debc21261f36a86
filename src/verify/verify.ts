import { handleRanges } from '../reconcile/walk.ts'
import { blockDifferences } from './blocks.ts'
import { counterDifferences } from './counters.ts'
import { engagementDifferences } from './engagement.ts'
import { historyDifferences } from './history.ts'
import type { Difference, Tally, VerifyProgress, VerifyServices } from './run.ts'
import { sideDifferences } from './sides.ts'
import { type Readers, timelineDifferences } from './timelines.ts'

/** How a run is made. */
export interface VerifyOptions {
  readonly readers: Readers
  readonly onProgress?: ((progress: VerifyProgress) => void) | undefined
}

/**
 * Looks through a database, which may be in use, for whatever laws L1 to L3 do not allow, and writes nothing. Holds a
 * bounded part at a time, whatever the size; reads every edge, event, post and entry once, and a few times more what
 * is suspected.
 * @param tally counts what is looked at, as it is.
 */
export async function* verify(
  services: VerifyServices,
  { readers, onProgress }: VerifyOptions,
  tally: Tally,
): AsyncGenerator<Difference> {
  const { users, posts, user_stats } = services.collections
  const progress = (part: VerifyProgress['part'], total: number) => (done: number) =>
    onProgress?.({ part, done, total: Math.max(total, done) })
  const toldOfUsers = progress('users', await users.estimatedDocumentCount())
  for await (const range of handleRanges(users)) {
    for (const differences of [
      counterDifferences,
      sideDifferences,
      blockDifferences,
      historyDifferences,
    ]) {
      yield* differences(services, range, tally)
    }
    toldOfUsers(tally.checked.users)
  }
  const toldOfPosts = progress('posts', await posts.estimatedDocumentCount())
  yield* engagementDifferences(services, tally, toldOfPosts)
  const all = await user_stats.estimatedDocumentCount()
  const toldOfReaders = progress('readers', readers === 'all' ? all : Math.min(all, readers))
  yield* timelineDifferences(services, readers, tally, toldOfReaders)
}
