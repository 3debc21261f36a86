import type { ApolloClient } from '@apollo/client'
import { useApolloClient, useReactiveVar } from '@apollo/client/react'
import {
  HomeTimelineDocument,
  TimelineNewsDocument,
  type TimelineNewsQuery,
} from '@feedline/client'
import { usePolling } from '@feedline/example-ui'
import { useState } from 'react'
import { ownPosts } from './actions.ts'

type Group = { readonly group?: string }
type News = NonNullable<TimelineNewsQuery['timelineNews']>

/** With counts and facets, a page of 100 posts costs more than a request may. */
const pageMax = 50

const heldTimeline = (client: ApolloClient, group: Group) =>
  client.readQuery({ query: HomeTimelineDocument, variables: group })?.timeline

// #region apollo-new-posts
/** Puts the posts that are new since a pollCursor on top. */
async function readNews(client: ApolloClient, group: Group, since: string): Promise<void> {
  const variables = { ...group, last: pageMax, before: since }
  const query = { query: HomeTimelineDocument, variables }
  const { data } = await client.query({ ...query, fetchPolicy: 'network-only' })
  const { pageInfo, pollCursor } = data?.timeline ?? {}
  if (pageInfo?.hasPreviousPage && pollCursor) await readNews(client, group, pollCursor)
}
// #endregion

/** Reads as many posts as are held again, and shows them all at once, so that the page does not jump. */
async function readAgain(client: ApolloClient, group: Group): Promise<void> {
  const wanted = heldTimeline(client, group)?.edges.length ?? 0
  const read = async (variables: { first: number; after?: string }) => {
    const query = { query: HomeTimelineDocument, variables: { ...group, ...variables } }
    return (await client.query({ ...query, fetchPolicy: 'no-cache' })).data?.timeline
  }
  const sizeOf = (count: number) => Math.min(pageMax, Math.max(20, count))
  let timeline = await read({ first: sizeOf(wanted) })
  while (timeline?.pageInfo.hasNextPage && timeline.edges.length < wanted) {
    const { endCursor } = timeline.pageInfo
    const next = await read({
      first: sizeOf(wanted - timeline.edges.length),
      after: endCursor ?? '',
    })
    if (!next) break
    timeline = { ...timeline, edges: [...timeline.edges, ...next.edges], pageInfo: next.pageInfo }
  }
  if (!timeline) return
  client.writeQuery({ query: HomeTimelineDocument, variables: group, data: { timeline } })
}

/** Polls a timeline in the cache, as docs/polling.md says. */
export function useNews(group: Group) {
  const client = useApolloClient()
  const [news, setNews] = useState<News>()
  const own = useReactiveVar(ownPosts).length
  const isHome = group.group === undefined
  const since = news?.pollCursor ?? heldTimeline(client, group)?.pollCursor

  const startAgain = () => {
    setNews(undefined)
    if (isHome) ownPosts([])
  }
  // #region apollo-polling
  usePolling(async () => {
    if (!since) return
    const { data } = await client.query({
      query: TimelineNewsDocument,
      variables: { since, ...group },
      fetchPolicy: 'no-cache',
      // The browser keeps the answer to a GET, and asks with its ETag.
      context: { fetchOptions: { method: 'GET' } },
    })
    if (!data?.timelineNews?.changed) return setNews(data?.timelineNews ?? undefined)
    await readAgain(client, group)
    startAgain()
  })
  const showNews = async () => {
    if (since) await readNews(client, group, since)
    startAgain()
  }
  // #endregion
  const count = news?.hasMore ? news.count : Math.max(0, (news?.count ?? 0) - (isHome ? own : 0))
  return { count, hasMore: news?.hasMore ?? false, showNews }
}
