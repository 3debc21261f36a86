import type { FeedStrategyName } from '../../src/timeline/strategies/list.ts'
import type { Constants, OperationCost } from './constants.ts'
import { costAt, lowerCost, scaleCost, sumCosts } from './cost.ts'
import { countEdges, countUsers } from './degrees.ts'
import {
  type AuthorClass,
  authorClasses,
  deliveriesPerSecond,
  secondsPerDay,
} from './derived-load.ts'
import type { CapacityInputs } from './inputs.ts'
import { strategyModels } from './strategy-model.ts'

/** What a strategy costs under a load. */
export interface StrategyLoad {
  /** Entries that are added to timelines of followers, per second. */
  readonly deliveriesPerSecond: number
  /** The costs of requests, per second, with the deliveries that servers make themselves. */
  readonly requests: OperationCost
  /** The costs of deliveries by workers, per second. */
  readonly deliveries: OperationCost
  /** The cost of one page that is read, of the mean reader. */
  readonly page: OperationCost
  /** Bytes on disk of users, edges, posts and likes. */
  readonly baseBytes: number
  /** Bytes on disk of stored timelines. */
  readonly timelineBytes: number
  /** The growth of both, in bytes a day. */
  readonly growthBytesPerDay: number
}

/**
 * Derives what a strategy costs. All costs are sums of measured costs of operations times their
 * rates.
 */
export function strategyLoad(
  strategy: FeedStrategyName,
  inputs: CapacityInputs,
  constants: Constants,
): StrategyLoad {
  const authors = authorClasses(inputs)
  const deliveries = deliveriesPerSecond(authors, (followers) =>
    strategyModels[strategy].audienceOf(inputs, followers),
  )
  const posts = authors.map((author) => postCosts(strategy, inputs, constants, author))
  const page = meanPageCost(strategy, inputs, constants)
  const { likesPerSecond, followsPerSecond } = inputs
  const bytesAfter = (days: number) => {
    const later = { ...inputs, days }
    const timelines = strategyModels[strategy].timelineBytes(later, constants, deliveries)
    return [baseBytes(later, constants), timelines] as const
  }
  const [base, timelines] = bytesAfter(inputs.days)
  const grown = bytesAfter(inputs.days + 1).reduce((sum, bytes) => sum + bytes, 0)
  return {
    deliveriesPerSecond: deliveries,
    requests: sumCosts([
      ...posts.map(({ request }) => request),
      readCosts(strategy, inputs, constants, page),
      scaleCost(constants.like, likesPerSecond),
      scaleCost(constants.strategies[strategy].follow, followsPerSecond),
    ]),
    deliveries: sumCosts(posts.map(({ worker }) => worker)),
    page,
    baseBytes: base,
    timelineBytes: timelines,
    growthBytesPerDay: grown - base - timelines,
  }
}

/** The cost of a post with its deliveries, of an author with `followers` followers. */
function postCost(
  strategy: FeedStrategyName,
  inputs: CapacityInputs,
  constants: Constants,
  followers: number,
): OperationCost {
  const audience = strategyModels[strategy].audienceOf(inputs, followers)
  return costAt(constants.strategies[strategy].post, audience)
}

/** The costs per second of a class of authors. Workers deliver to audiences above `inlineMax`. */
function postCosts(
  strategy: FeedStrategyName,
  inputs: CapacityInputs,
  constants: Constants,
  { followers, postsPerSecond }: AuthorClass,
): { readonly request: OperationCost; readonly worker: OperationCost } {
  const whole = scaleCost(postCost(strategy, inputs, constants, followers), postsPerSecond)
  const isInline = strategyModels[strategy].audienceOf(inputs, followers) <= inputs.inlineMax
  const ofRequest = costAt(constants.strategies[strategy].post, 0)
  const request = isInline ? whole : scaleCost(ofRequest, postsPerSecond)
  return { request, worker: sumCosts([whole, scaleCost(request, -1)]) }
}

/** The cost of one page that is read. Each user reads equally often. */
function meanPageCost(
  strategy: FeedStrategyName,
  inputs: CapacityInputs,
  constants: Constants,
): OperationCost {
  const users = countUsers(inputs.followees)
  const costOf = (followees: number) => costAt(constants.strategies[strategy].page, followees)
  return sumCosts(
    inputs.followees.map((one) => scaleCost(costOf(one.degree), one.users / Math.max(1, users))),
  )
}

/** The costs per second of pages and polls, read or from memory. */
function readCosts(
  strategy: FeedStrategyName,
  inputs: CapacityInputs,
  { strategies }: Constants,
  page: OperationCost,
): OperationCost {
  const { readsPerSecond, pollsPerSecond, unchangedShare: keptShare } = inputs
  const { pageKept, poll, pollKept } = strategies[strategy]
  // FANOUT_ON_READ keeps no page: its unchanged page was measured on readers with more followees.
  return sumCosts([
    scaleCost(page, readsPerSecond * (1 - keptShare)),
    scaleCost(lowerCost(pageKept, page), readsPerSecond * keptShare),
    scaleCost(poll, pollsPerSecond * (1 - keptShare)),
    scaleCost(pollKept, pollsPerSecond * keptShare),
  ])
}

/**
 * The bytes on disk of users and edges, and of the posts and likes of `days`. Follows add edges.
 */
function baseBytes(inputs: CapacityInputs, { bytes }: Constants): number {
  const seconds = inputs.days * secondsPerDay
  return (
    countUsers(inputs.followers) * bytes.user +
    countEdges(inputs.followers) * bytes.edge +
    seconds * (inputs.postsPerSecond * bytes.post + inputs.likesPerSecond * bytes.like)
  )
}
