import { groupBy } from '../../lib/batch.ts'
import type { UserId } from '../../lib/ids.ts'
import type { Window } from '../../lib/page.ts'
import { narrowPage } from '../../pages/pipeline.ts'
import type { FeedService } from '../pages/feed-service.ts'
import type { Projection, TimelinePage, TimelineRequest } from '../pages/page.ts'

/** From the smallest part of a post to the whole post. */
const projections: readonly Projection[] = ['ref', 'text', 'content']

/**
 * Reads the timelines that one request selects. Timelines of the same strategy, group, cursors and
 * direction are one read of the largest page, so aliases cost no further command.
 * @returns a page or an error for each request, in order.
 */
export async function readTimelines(
  feed: Pick<FeedService, 'timeline'>,
  reader: UserId,
  requests: readonly TimelineRequest[],
): Promise<readonly (TimelinePage | Error)[]> {
  const pages = new Map<TimelineRequest, TimelinePage | Error>()
  await Promise.all(
    [...groupBy(requests, readKeyOf).values()].map(async (alike) => {
      const page = await feed.timeline(reader, largestOf(alike)).catch((error: Error) => error)
      for (const one of alike) {
        const isError = page instanceof Error
        pages.set(one, isError ? page : narrowTimeline(page, one.window))
      }
    }),
  )
  return requests.map((one) => pages.get(one) as TimelinePage | Error)
}

const narrowTimeline = (page: TimelinePage, window: Window): TimelinePage => ({
  ...page,
  ...narrowPage(page, window),
  isCut: page.isCut || page.items.length > window.limit,
})

/** The same for timelines that can share a read. */
export const readKeyOf = ({ window, strategy, group }: TimelineRequest): string =>
  JSON.stringify([strategy, group, window.after, window.before, window.backward])

function largestOf(alike: readonly TimelineRequest[]): TimelineRequest {
  const [first] = alike as readonly [TimelineRequest]
  const ranks = alike.map(({ projection }) => projections.indexOf(projection))
  return {
    ...first,
    window: { ...first.window, limit: Math.max(...alike.map(({ window }) => window.limit)) },
    projection: projections[Math.max(...ranks)] as Projection,
    counts: alike.some(({ counts }) => counts),
    viewerHas: alike.some(({ viewerHas }) => viewerHas),
    pending: alike.some(({ pending }) => pending),
    watermark: alike.some(({ watermark }) => watermark),
  }
}
