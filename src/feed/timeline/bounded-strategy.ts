import { TimelinesAway } from '../../db/timelines-cluster.ts'
import { within } from '../../lib/within.ts'
import type { Placement } from '../registry/placement.ts'
import type { FeedStrategy } from '../strategies/strategy.ts'

/** How long a page waits for stored entries of a timelines cluster, in milliseconds. */
const candidatesMsMax = 1_500

/** A strategy whose entries are on a timelines cluster. If the cluster does not answer in time, pages go without it. */
export const boundedStrategy = (strategy: FeedStrategy, placement: Placement): FeedStrategy => ({
  proposeCandidates: (query) =>
    within(candidatesMsMax, strategy.proposeCandidates(query), () => {
      placement.suspect()
      return new TimelinesAway('the timelines cluster did not answer in time')
    }),
})
