import type { FeedStrategyName } from '../../src/timeline/strategies/list.ts'
import type { Constants } from './constants.ts'
import { countUsers } from './degrees.ts'
import { storedEntries } from './derived-load.ts'
import type { CapacityInputs } from './inputs.ts'

/** How the costs of a strategy follow from the load. */
export interface StrategyModel {
  /** The readers who get an entry of a post, if its author has `followers` followers. */
  audienceOf(inputs: CapacityInputs, followers: number): number
  /** The bytes on disk of all stored timelines, with `deliveries` per second. */
  timelineBytes(inputs: CapacityInputs, constants: Constants, deliveries: number): number
}

/** The entries of a full cache. */
const cacheEntries = 51

/** A strategy that stores an entry for each follower. */
const storesEntries = (name: FeedStrategyName): StrategyModel => ({
  audienceOf: (_, followers) => followers,
  timelineBytes: (inputs, { strategies }, deliveries) =>
    storedEntries(inputs, deliveries, inputs.postsPerSecond) * strategies[name].bytesPerStored,
})

/** Caches exist for active users only, so the others get no entries. */
const cache: StrategyModel = {
  audienceOf: ({ activeShare }, followers) => followers * activeShare,
  timelineBytes: (inputs, { strategies }, deliveries) => {
    const activeUsers = countUsers(inputs.followers) * inputs.activeShare
    if (activeUsers === 0) return 0
    const entries = storedEntries(inputs, deliveries / inputs.activeShare, inputs.postsPerSecond)
    const filled = Math.min(1, entries / countUsers(inputs.followers) / cacheEntries)
    return activeUsers * filled * strategies.CACHE.bytesPerStored
  },
}

/** The model of each strategy. A new strategy without a row does not compile. */
export const strategyModels: Readonly<Record<FeedStrategyName, StrategyModel>> = {
  FANOUT_ON_READ: { audienceOf: () => 0, timelineBytes: () => 0 },
  TIME_BUCKETS: storesEntries('TIME_BUCKETS'),
  SIZED_BUCKETS: storesEntries('SIZED_BUCKETS'),
  CACHE: cache,
  INBOX: storesEntries('INBOX'),
}
