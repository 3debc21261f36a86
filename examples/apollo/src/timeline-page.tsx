import { useApolloClient, useQuery } from '@apollo/client/react'
import { HomeTimelineDocument } from '@feedline/client'
import { nodesOf, TimelineView, useNews } from '@feedline/example-ui'
import { useMemo } from 'react'
import { useActions } from './actions'
import { usePages } from './pages'
import { SuggestionList } from './suggestions'
import { timelineOf } from './timeline'

/** The home timeline with the composer, or the timeline of a group. */
export function TimelinePage({ group }: { group?: string | undefined }) {
  const client = useApolloClient()
  const variables = useMemo(() => (group === undefined ? {} : { group }), [group])
  const result = useQuery(HomeTimelineDocument, { variables })
  const timeline = result.data?.timeline
  const news = useNews(client, group, () => timelineOf(client, variables))
  const { like, publish, deletePost } = useActions()
  const pages = usePages(result, timeline?.pageInfo)
  return (
    <>
      <TimelineView
        {...pages}
        group={group}
        news={news}
        posts={nodesOf(timeline?.edges)}
        onSend={(text, id) => news.publish(() => publish(text, id))}
        onLike={like}
        onDelete={deletePost}
      />
      {group === undefined && timeline ? <SuggestionList /> : null}
    </>
  )
}
