import type { Collections } from '../db/collections.ts'
import type { Registry } from './registry.ts'
import type { MaterialisedName } from './strategy.ts'

/**
 * Removes all that a strategy has stored. INBOX and HYBRID store in one collection, which stays while the other is
 * maintained. Three commands at most.
 */
export async function removeStored(
  { collections, registry }: { readonly collections: Collections; readonly registry: Registry },
  name: MaterialisedName,
): Promise<void> {
  const { timed_buckets, sized_buckets, timeline_cache, inbox, celebrities, pulled_authors } =
    collections
  const registered = await registry.read()
  if (name === 'TIME_BUCKETS') await timed_buckets.deleteMany({})
  if (name === 'SIZED_BUCKETS') await sized_buckets.deleteMany({})
  if (name === 'CACHE') await timeline_cache.deleteMany({})
  if (name === 'HYBRID') {
    await celebrities.deleteMany({})
    await pulled_authors.deleteMany({})
  }
  // What INBOX delivered of celebrities stays in the inboxes: any of their posts may be stored.
  if (name === 'INBOX') await celebrities.updateMany({}, { $unset: { readFrom: '' } })
  const other = { INBOX: 'HYBRID', HYBRID: 'INBOX' } as const
  if ((name === 'INBOX' || name === 'HYBRID') && !registered.has(other[name])) {
    await inbox.deleteMany({})
  }
}
