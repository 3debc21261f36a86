import { HomeTimelineDocument, TimelineNewsDocument } from '@feedline/client'
import { Composer, Feed, NewPosts, reportProblem, usePolling } from '@feedline/example-ui'
import { useMemo, useState } from 'react'
import { useClient } from 'urql'
import { useActions } from './actions.ts'
import { ownPosts } from './cache.ts'
import { ask } from './client.ts'
import { first, nodesOf, useList } from './list.ts'
import { SuggestionList } from './suggestions.tsx'

const noNews = { count: 0, hasMore: false, pollCursor: undefined }

// #region urql-polling
/** Polls a timeline in the cache, as docs/polling.md says. */
function useNews(page: { first: number; group?: string }, held: string | null | undefined) {
  const client = useClient()
  const { first: _, ...group } = page
  const [news, setNews] = useState<{
    count: number
    hasMore: boolean
    pollCursor?: string | undefined
  }>(noNews)
  const since = news.pollCursor ?? held
  const startAgain = () => {
    ownPosts.clear()
    setNews(noNews)
  }
  usePolling(async () => {
    if (!since) return
    const answer = await ask(client, TimelineNewsDocument, { ...group, since })
    if (!answer?.timelineNews?.changed) return setNews(answer?.timelineNews ?? noNews)
    await ask(client, HomeTimelineDocument, page)
    startAgain()
  })
  const read = async (before: string): Promise<void> => {
    const answer = await ask(client, HomeTimelineDocument, { ...group, last: 50, before })
    const { pageInfo, pollCursor } = answer?.timeline ?? {}
    if (pageInfo?.hasPreviousPage && pollCursor) return read(pollCursor)
    startAgain()
  }
  return { ...news, show: () => (since ? read(since) : Promise.resolve()) }
}
// #endregion

/** The home timeline with the composer, or the timeline of a group. */
export function TimelinePage({ group }: { group?: string | undefined }) {
  const variables = useMemo(() => (group === undefined ? { first } : { first, group }), [group])
  const { data, pages } = useList(
    HomeTimelineDocument,
    variables,
    ({ timeline }) => timeline?.pageInfo,
  )
  const posts = nodesOf(data?.timeline?.edges)
  const { count, hasMore, show } = useNews(variables, data?.timeline?.pollCursor)
  const { like, publish, deletePost } = useActions()
  const isHome = group === undefined
  const own = isHome ? posts.filter(({ id }) => ownPosts.has(id)).length : 0
  return (
    <>
      {isHome ? (
        <Composer label="What is new?" button="Post" onSend={publish} />
      ) : (
        <h1 className="title">{group}</h1>
      )}
      <NewPosts count={count - own} hasMore={hasMore} onShow={() => show().catch(reportProblem)} />
      <Feed
        {...pages}
        label={isHome ? 'Home timeline' : `Timeline of ${group}`}
        posts={posts}
        onLike={like}
        onDelete={deletePost}
        empty="No posts yet. Follow someone, or write the first."
      />
      {isHome && data?.timeline ? <SuggestionList /> : null}
    </>
  )
}
