import { describe } from 'vitest'
import type { EntryContent } from '../../src/feed/entries.ts'
import type { FeedStrategyName } from '../../src/feed/strategies/list.ts'
import { useFeedFixture } from '../support/feed-fixture.ts'
import { describeFeedEntries } from './feed-entries.ts'
import { describeFeedJobs } from './feed-jobs.ts'
import { describeFeedPages } from './feed-pages.ts'
import { describeFeedWrites } from './feed-writes.ts'

/**
 * The behaviour of every strategy, for any stored form and any content of entries (law L1). There are no exceptions: a
 * strategy leaves pages that it cannot serve to FANOUT_ON_READ.
 */
export function describeFeedStrategy(strategy: FeedStrategyName, entries: EntryContent): void {
  describe(`${strategy}, entries hold ${entries}`, () => {
    const fixture = useFeedFixture(strategy, entries)
    describeFeedPages(fixture)
    describeFeedWrites(fixture)
    describeFeedJobs(fixture)
    describeFeedEntries(fixture)
  })
}
