import type { FeedStrategyName } from '../../src/feed/strategies/list.ts'
import type { Constants, OperationCost } from './constants.ts'
import { costAt, scaleCost, sumCosts } from './cost.ts'
import { countUsers } from './degrees.ts'
import { celebrityEdges, storedEntries } from './derived-load.ts'
import type { CapacityInputs } from './inputs.ts'

/** How the costs of a strategy follow from the load. */
export interface StrategyModel {
  /** The readers who get an entry of a post, if its author has `followers` followers. */
  audienceOf(inputs: CapacityInputs, followers: number): number
  /** The bytes on disk of all stored timelines, with `deliveries` per second. */
  timelineBytes(inputs: CapacityInputs, constants: Constants, deliveries: number): number
  /** The cost of a post with its deliveries. Default: the measured cost at its audience. */
  postCost?(inputs: CapacityInputs, constants: Constants, followers: number): OperationCost
  /** The cost of a page that is read. Default: the measured cost at the number of followees. */
  pageCost?(inputs: CapacityInputs, constants: Constants, followees: number): OperationCost
  /** The share of the readers whose pages and polls are never answered from memory. Default: 0. */
  unkeptShare?(inputs: CapacityInputs): number
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

/** With celebrities at random, a share of 1 - e^-n of the readers follows one, if they follow n on average. */
const celebrityShare = ({ followers, inboxFollowersMax }: CapacityInputs): number =>
  1 - Math.exp(-celebrityEdges(followers, inboxFollowersMax) / countUsers(followers))

/** The posts of celebrities are delivered to no one. Their followers read these posts with each page. */
const inbox: StrategyModel = {
  ...storesEntries('INBOX'),
  audienceOf: ({ inboxFollowersMax }, followers) => (followers > inboxFollowersMax ? 0 : followers),
  postCost: ({ inboxFollowersMax }, { strategies, pulled }, followers) =>
    followers > inboxFollowersMax ? pulled.post : costAt(strategies.INBOX.post, followers),
  pageCost: (inputs, { strategies, pulled }, followees) => {
    const share = celebrityShare(inputs)
    const plain = costAt(strategies.INBOX.page, followees)
    return sumCosts([scaleCost(plain, 1 - share), scaleCost(pulled.page, share)])
  },
  unkeptShare: celebrityShare,
}

/** The model of each strategy. A new strategy without a row does not compile. */
export const strategyModels: Readonly<Record<FeedStrategyName, StrategyModel>> = {
  FANOUT_ON_READ: { audienceOf: () => 0, timelineBytes: () => 0 },
  TIME_BUCKETS: storesEntries('TIME_BUCKETS'),
  SIZED_BUCKETS: storesEntries('SIZED_BUCKETS'),
  CACHE: cache,
  INBOX: inbox,
}
