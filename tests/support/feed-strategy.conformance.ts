import { describe } from 'vitest'
import type { EntryContent } from '../../src/feed/entries.ts'
import type { FeedStrategyName } from '../../src/feed/strategies/list.ts'
import { describeFeedEntries } from './feed-entries.conformance.ts'
import { useFeedFixture } from './feed-fixture.ts'
import { describeFeedJobs } from './feed-jobs.conformance.ts'
import { describeFeedPages } from './feed-pages.conformance.ts'
import { describeFeedWrites } from './feed-writes.conformance.ts'

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
