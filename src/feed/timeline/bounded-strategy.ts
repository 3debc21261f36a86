import type { Placement } from '../registry/placement.ts'
import type { FeedStrategy } from '../strategies/strategy.ts'

/** A strategy whose entries are on a timelines cluster. If the cluster does not answer in time, pages go without it. */
export const boundedStrategy = (strategy: FeedStrategy, placement: Placement): FeedStrategy => ({
  proposeCandidates: (query) => placement.waitForAnswer(strategy.proposeCandidates(query)),
})
