import type { FollowedCollection } from '../../../src/memory/followed-facts.ts'
import type { Services } from '../../../src/services.ts'

/** A server whose memory gets no change of a collection. */
export const isNotTold =
  (collection: FollowedCollection) =>
  ({ memory }: Services): void => {
    const { byCollection } = memory as unknown as { byCollection: Map<FollowedCollection, object> }
    byCollection.delete(collection)
  }

/** Faults of a server that law L7 must find between several processes, by what they do. */
export const pollFaults = {
  'memory gets no change of relations': isNotTold('user_stats'),
  'a server never says that posts were removed': ({ news }) => {
    const right = news.findNews.bind(news)
    news.findNews = async (...asked) => ({ ...(await right(...asked)), changed: false })
  },
} as const satisfies Readonly<Record<string, (services: Services) => void>>

/** The name of a fault. */
export type PollFault = keyof typeof pollFaults
