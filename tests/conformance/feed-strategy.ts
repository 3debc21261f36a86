import { describe } from 'vitest'
import type { EntryContent } from '../../src/timeline/entries.ts'
import type { FeedStrategyName } from '../../src/timeline/strategies/list.ts'
import { useFeedFixture } from '../support/feed-fixture.ts'
import { share } from '../support/repetition.ts'
import { describeFeedEntries } from './feed-entries.ts'
import { describeFeedJobs } from './feed-jobs.ts'
import { describeFeedPages } from './feed-pages.ts'
import { describeFeedWrites } from './feed-writes.ts'

const parts = [describeFeedPages, describeFeedWrites, describeFeedJobs, describeFeedEntries]

/**
 * The behaviour of every strategy, for any stored form and any content of entries (law L1). There
 * are no exceptions: a strategy leaves pages that it cannot serve to FANOUT_ON_READ. By day, each
 * strategy shows one of the parts.
 * @param n differs between strategies, so that each part is shown every day.
 */
export function describeFeedStrategy(
  strategy: FeedStrategyName,
  entries: EntryContent,
  n: number,
): void {
  describe(`${strategy}, entries hold ${entries}`, () => {
    const fixture = useFeedFixture(strategy, entries, ['FANOUT_ON_READ', strategy])
    for (const describePart of share(4, parts, n)) describePart(fixture)
  })
}
