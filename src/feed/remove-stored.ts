import type { Collections } from '../db/collections.ts'
import type { Registry } from './registry.ts'
import type { MaterialisedName } from './strategy.ts'

/**
 * Removes all that a strategy has stored. INBOX and HYBRID store in one collection, which stays while the other is
 * maintained. Two commands at most.
 */
export async function removeStored(
  { collections, registry }: { readonly collections: Collections; readonly registry: Registry },
  name: MaterialisedName,
): Promise<void> {
  const { timed_buckets, sized_buckets, timeline_cache, inbox, celebrities } = collections
  const registered = await registry.read()
  if (name === 'TIME_BUCKETS') await timed_buckets.deleteMany({})
  if (name === 'SIZED_BUCKETS') await sized_buckets.deleteMany({})
  if (name === 'CACHE') await timeline_cache.deleteMany({})
  if (name === 'HYBRID') await celebrities.deleteMany({})
  const other = { INBOX: 'HYBRID', HYBRID: 'INBOX' } as const
  if ((name === 'INBOX' || name === 'HYBRID') && !registered.has(other[name])) {
    await inbox.deleteMany({})
  }
}
