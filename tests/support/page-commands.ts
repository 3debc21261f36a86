import type { MaterialisedName } from '../../src/feed/strategies/list.ts'

/** The label of the command that reads what decides whether a post shows. */
export const visibilityRead = 'read following, restrictions, user_stats, posts, strategies'

/** The label of the command that reads a page's entries, by strategy. */
export const entryReads = {
  TIME_BUCKETS: 'read timed_buckets',
  SIZED_BUCKETS: 'read sized_buckets',
  CACHE: 'read timeline_cache',
  INBOX: 'read inbox',
  HYBRID: 'read inbox',
} as const satisfies Record<MaterialisedName, string>
