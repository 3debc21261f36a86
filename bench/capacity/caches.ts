import { ObjectId } from 'mongodb'
import { toObjectId } from '../../src/db/object-id.ts'
import type { PostRef, UserId } from '../../src/lib/ids.ts'
import { insertInBatches } from '../feeds/bulk-data.ts'
import type { FeedsDatabase } from '../feeds/feeds-database.ts'

/** A page of 50, and one entry more for `hasNextPage`. */
const cacheSize = 51
const monthMs = 30 * 86_400_000

/** Gives each user a full cache of posts of the history, as if the user had read the timeline. */
export async function fillCaches(
  { services, registered }: FeedsDatabase,
  users: readonly UserId[],
  history: readonly PostRef[],
): Promise<void> {
  const epoch = registered.find(({ _id }) => _id === 'CACHE')?.epoch ?? new ObjectId()
  const expiresAt = new Date(Date.now() + monthMs)
  const docs = users.map((_id, at) => {
    // Not the same posts in all caches, which would be compressed together.
    const first = (at * 7_919) % Math.max(1, history.length - cacheSize)
    const entries = history
      .slice(first, first + cacheSize)
      .map(({ id, author }) => ({ post: toObjectId(id), author }))
      .reverse()
    const floor = entries.at(-1)?.post ?? new ObjectId()
    return { _id, epoch, entries, floor, expiresAt }
  })
  await insertInBatches(services.collections.timeline_cache, docs, (doc) => doc)
}
