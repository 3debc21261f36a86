import { useQuery } from '@apollo/client/react'
import { HomeTimelineDocument } from '@feedline/client'
import { Composer, Feed, NewPosts, nodesOf, useLoadMore } from '@feedline/example-ui'
import { useMemo } from 'react'
import { useActions } from './actions.ts'
import { useNews } from './news.ts'
import { SuggestionList } from './suggestions.tsx'

/** The home timeline with the composer, or the timeline of a group. */
export function TimelinePage({ group }: { group?: string | undefined }) {
  const variables = useMemo(() => (group === undefined ? {} : { group }), [group])
  const result = useQuery(HomeTimelineDocument, { variables })
  const timeline = result.data?.timeline
  const { count, hasMore, showNews } = useNews(variables)
  const { like, publish, deletePost } = useActions()
  const pages = useLoadMore(result, timeline?.pageInfo)
  return (
    <>
      {group === undefined ? (
        <Composer label="What is new?" button="Post" onSend={publish} />
      ) : (
        <h1 className="title">{group}</h1>
      )}
      <NewPosts count={count} hasMore={hasMore} onShow={showNews} />
      <Feed
        {...pages}
        label={group === undefined ? 'Home timeline' : `Timeline of ${group}`}
        posts={nodesOf(timeline?.edges)}
        onLike={like}
        onDelete={deletePost}
        empty="No posts yet. Follow someone, or write the first."
      />
      {group === undefined && timeline ? <SuggestionList /> : null}
    </>
  )
}
