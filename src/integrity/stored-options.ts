import { type Config, feedStrategyNames } from '../config.ts'
import type { Registered } from '../feed/registry.ts'

const dayMs = 86_400_000

/**
 * The configuration under which every strategy can be read as the database stores it, whatever is configured here.
 * Reading under it does not extend the life of a cache.
 */
export function feedAsStored(feed: Config['feed'], registered: Registered): Config['feed'] {
  const { periodMs } = registered.get('TIME_BUCKETS')?.options ?? {}
  const { size } = registered.get('CACHE')?.options ?? {}
  return {
    ...feed,
    maintained: feedStrategyNames,
    cacheAwayDays: 0,
    ...(periodMs === undefined ? {} : { timeBucketDays: periodMs / dayMs }),
    ...(size === undefined ? {} : { cacheSize: size }),
  }
}
