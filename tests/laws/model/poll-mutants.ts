import { clockSkewMaxMs, type PostId, timeIdAt } from '../../../src/lib/ids.ts'
import type { Services } from '../../../src/services.ts'
import type { PollCursor } from '../../../src/timeline/pages/poll-cursor.ts'
import { commitMsMax, type Watermarks } from '../../../src/timeline/pages/watermark.ts'

type Mutate = (services: Services) => void

/** Replaces the watermark. */
const withWatermark =
  (load: (services: Services, right: Watermarks['load']) => Watermarks['load']): Mutate =>
  (services) => {
    const { watermarks } = services
    watermarks.load = load(services, watermarks.load.bind(watermarks))
  }

/** A watermark that is computed as if it were later. */
const early =
  (ms: number): Mutate =>
  ({ watermarks, now }) => {
    Object.assign(watermarks, { now: () => now() + ms })
  }

/** Mutants of polls, by their fault. The law L7 must find each of them. */
export const pollMutants: Readonly<Record<string, Mutate>> = {
  'the watermark is the newest post': withWatermark(({ collections }) => async () => {
    const [newest] = await collections.posts.find().sort({ _id: -1 }).limit(1).toArray()
    return { watermark: (newest?._id.toHexString() ?? '0'.repeat(24)) as PostId }
  }),
  'the watermark is the time of the poll': withWatermark(({ now }) => async () => ({
    watermark: timeIdAt<PostId>(now(), '0'.repeat(12)),
  })),
  'the watermark is computed after the page': ({ feed, watermarks }) => {
    const right = feed.timeline.bind(feed)
    feed.timeline = async (reader, request) => {
      const page = await right(reader, { ...request, watermark: false })
      const { watermark } = await watermarks.load(reader, page.strategy, request.group)
      return { ...page, watermark }
    }
  },
  'the watermark ignores deliveries': withWatermark(
    (_, right) => (reader, __, group) => right(reader, 'FANOUT_ON_READ', group),
  ),
  'the watermark ignores the skew of clocks': early(clockSkewMaxMs),
  'the watermark ignores open transactions': early(commitMsMax),
  'the timeline never changes': ({ news }) => {
    const right = news.findNews.bind(news)
    news.findNews = async (...asked) => ({ ...(await right(...asked)), changed: false })
  },
  'a poll cursor forgets that posts are settled': ({ news }) => {
    const right = news.findNews.bind(news)
    const forgotten = (cursor: PollCursor): PollCursor => ({
      ...cursor,
      floor: cursor.watermark,
      settled: 0,
      digest: '0'.repeat(16),
    })
    news.findNews = async (reader, request) =>
      right(reader, { ...request, since: forgotten(request.since) })
  },
  'news that a poller holds are counted': ({ news }) => {
    const right = news.findNews.bind(news)
    news.findNews = async (reader, request) => {
      const found = await right(reader, request)
      return { ...found, count: found.count + request.since.recent.length }
    }
  },
}
