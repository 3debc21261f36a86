import { HomeTimelineDocument } from '@feedline/client'
import { nodesOf, TimelineView, useNews, useViewer } from '@feedline/example-ui'
import { useMemo } from 'react'
import { useClient } from 'urql'
import { useActions } from './actions'
import { first, useList } from './list'
import { openTimeline } from './news'
import { SuggestionList } from './suggestions'

/** The home timeline with the composer, or the timeline of a group. */
export function TimelinePage({ group }: { group?: string | undefined }) {
  const client = useClient()
  const viewer = useViewer()
  const variables = useMemo(() => (group === undefined ? { first } : { first, group }), [group])
  const { data, pages } = useList(
    HomeTimelineDocument,
    variables,
    ({ timeline }) => timeline?.pageInfo,
  )
  const news = useNews(client, group, () => openTimeline(client, viewer, variables))
  const { like, publish, deletePost } = useActions()
  return (
    <>
      <TimelineView
        {...pages}
        group={group}
        news={news}
        posts={nodesOf(data?.timeline?.edges)}
        onSend={(...draft) => news.publish(() => publish(...draft))}
        onLike={like}
        onDelete={deletePost}
      />
      {group === undefined && data?.timeline ? <SuggestionList /> : null}
    </>
  )
}
