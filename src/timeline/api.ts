import type { Api } from '../graphql/api.ts'
import { TimelineResolver } from './api/timeline.resolver.ts'
import { TimelineNewsResolver } from './api/timeline-news.resolver.ts'
import { newsAuthorsMax } from './pages/news.ts'

export const timelinesApi: Api = {
  resolvers: [TimelineResolver, TimelineNewsResolver],
  types: [],
  nodes: {},
  prices: {
    fieldCommands: {
      'Query.whyInTimeline': 6,
      'Query.whyNotInTimeline': 6,
      // The watermark, and a page.
      'Query.timelineNews': 48,
      // The waiting deliveries, the facts about their authors, and their posts.
      'TimelineConnection.pending': 7,
      'TimelineConnection.pollCursor': 7,
    },
    listSizes: { 'TimelineNews.authors': newsAuthorsMax },
    pageCommands: {
      // Where nothing is kept: the registrations before and after (3), the creation of a cache (4),
      // two rounds of stored entries (2), fan-out on read after them and in a third round (8), and
      // the facts of three rounds (23): a round reads authors of entries, relations (2), a group,
      // accounts (2), posts and their overflow. A page during which a registration changes is read
      // again.
      'Query.timeline': 40,
    },
  },
}
