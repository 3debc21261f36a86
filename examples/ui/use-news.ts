import { useSyncExternalStore } from 'react'
import { NewsWatch, type Timeline, type TimelinePage } from './news'
import { usePolling } from './use-polling'

/** The watches of each client, by the names of groups. A client belongs to one viewer. */
const watches = new WeakMap<object, Map<string | undefined, NewsWatch>>()

/**
 * Polls a timeline while its page is shown. What is known about it lasts as long as the client.
 * @param open is called for the first page with this timeline.
 */
export function useNews<Page extends TimelinePage>(
  client: object,
  group: string | undefined,
  open: () => Timeline<Page>,
) {
  const ofClient = watches.get(client) ?? new Map()
  const watch: NewsWatch = ofClient.get(group) ?? new NewsWatch(open())
  watches.set(client, ofClient.set(group, watch))
  const { show, publish } = watch
  usePolling(watch.poll)
  const { count, hasMore } = useSyncExternalStore(watch.subscribe, watch.announcement)
  return { count, hasMore, show, publish }
}
