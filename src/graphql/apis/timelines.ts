import { newsAuthorsMax } from '../../feed/timeline/news.ts'
import type { Api } from '../api.ts'
import { TimelineResolver } from '../resolvers/timeline.resolver.ts'
import { TimelineNewsResolver } from '../resolvers/timeline-news.resolver.ts'

export const timelinesApi: Api = {
  resolvers: [TimelineResolver, TimelineNewsResolver],
  types: [],
  prices: {
    fieldCommands: {
      'Query.whyInTimeline': 6,
      'Query.whyNotInTimeline': 6,
      // The watermark, and a page with its facts.
      'Query.timelineNews': 26,
      'TimelineConnection.pending': 2,
      'TimelineConnection.pollCursor': 2,
    },
    listSizes: { 'TimelineNews.authors': newsAuthorsMax },
    pageCommands: {
      // With the creation of a cache, three rounds of stored entries and posts, and a refill by fan-out on read.
      'Query.timeline': 13,
    },
  },
}
