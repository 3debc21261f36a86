import { Composer, Feed, NewPosts, reportProblem, usePolling } from '@feedline/example-ui'
import { useState } from 'react'
import * as relay from 'react-relay'
import { graphql } from 'react-relay'
import { ConnectionHandler, type RecordSourceProxy } from 'relay-runtime'
import type { Timeline_query$key } from './__generated__/Timeline_query.graphql.ts'
import type { TimelineCreatePostMutation } from './__generated__/TimelineCreatePostMutation.graphql.ts'
import type { TimelineNewPostsQuery } from './__generated__/TimelineNewPostsQuery.graphql.ts'
import type { TimelineNewsQuery } from './__generated__/TimelineNewsQuery.graphql.ts'
import type { TimelinePageQuery } from './__generated__/TimelinePageQuery.graphql.ts'
import type { TimelineQuery } from './__generated__/TimelineQuery.graphql.ts'
import { Boundary, useNextPage, usePageData } from './boundary.tsx'
import { useAction } from './environment.ts'
import { readPosts, usePostActions } from './Post.ts'
import { SuggestionList } from './SuggestionList.tsx'

const noNews = { count: 0, hasMore: false }
/** Posts that this app wrote and shows, and that the poll cursor does not cover. */
const ownPosts = new Set<string>()

/** The home timeline or, with a group, the timeline of that group. */
export function Timeline({ group }: { group: string | undefined }) {
  const environment = relay.useRelayEnvironment()
  const [news, setNews] = useState(noNews)
  const actions = usePostActions()
  // #region relay-pagination
  const query = usePageData<TimelineQuery>(firstPage, { group })
  const list = relay.usePaginationFragment<TimelinePageQuery, Timeline_query$key>(
    graphql`
      fragment Timeline_query on Query
      @argumentDefinitions(
        group: { type: "String" }
        first: { type: "Int" }
        after: { type: "String" }
        isFirst: { type: "Boolean", defaultValue: true }
      )
      @refetchable(queryName: "TimelinePageQuery") {
        timeline(group: $group, first: $first, after: $after)
          @connection(key: "Timeline_timeline", filters: ["group"]) {
          __id
          pollCursor @include(if: $isFirst)
          edges { node { id ...Post_post } }
        }
      }
    `,
    query,
  )
  const pages = useNextPage(list, { isFirst: false })
  // #endregion
  const { data } = list
  const connection = data.timeline?.__id ?? ''
  const since = data.timeline?.pollCursor ?? ''
  const posts = readPosts(data.timeline?.edges)

  // #region relay-polling
  const showAll = () => {
    ownPosts.clear()
    setNews(noNews)
  }
  const reload = () =>
    relay.fetchQuery<TimelineQuery>(environment, firstPage, { group }).toPromise()
  const poll = async () => {
    const variables = { since, group }
    const answer = await relay
      .fetchQuery<TimelineNewsQuery>(environment, newsQuery, variables)
      .toPromise()
    const next = answer?.timelineNews
    if (!next) return
    if (next.changed) {
      await reload()
      return showAll()
    }
    relay.commitLocalUpdate(environment, (store) => {
      store.get(connection)?.setValue(next.pollCursor, 'pollCursor')
    })
    setNews(next)
  }
  const readNews = async (before = since): Promise<void> => {
    const variables = { before, group }
    const answer = await relay
      .fetchQuery<TimelineNewPostsQuery>(environment, newPosts, variables)
      .do({
        next: () =>
          relay.commitLocalUpdate(environment, (store) => prepend(store, connection, variables)),
      })
      .toPromise()
    const { pageInfo, pollCursor } = answer?.timeline ?? {}
    return pageInfo?.hasPreviousPage && pollCursor ? readNews(pollCursor) : showAll()
  }
  usePolling(poll)
  // #endregion

  // #region relay-create
  const create = useAction<TimelineCreatePostMutation>(graphql`
    mutation TimelineCreatePostMutation($input: CreatePostInput!, $connections: [ID!]!) {
      createPost(input: $input) {
        timelineEdge @prependEdge(connections: $connections) { cursor node { id ...Post_post } }
        viewer { id user { id postCount } }
      }
    }
  `)
  const send = async (text: string) => {
    const { createPost } = await create({ text }, { connections: [connection] })
    ownPosts.add(createPost?.timelineEdge.node?.id ?? '')
  }
  // #endregion
  const isHome = group === undefined
  const own = isHome ? posts.filter(({ id }) => ownPosts.has(id)).length : 0
  return (
    <>
      {isHome ? (
        <Composer label="What is new?" button="Post" onSend={send} />
      ) : (
        <h1 className="title">{group}</h1>
      )}
      <NewPosts {...news} count={news.count - own} onShow={() => readNews().catch(reportProblem)} />
      <Feed
        {...pages}
        {...actions}
        label={isHome ? 'Home timeline' : `Timeline of ${group}`}
        posts={posts}
        empty="No posts yet. Follow someone, or write the first."
      />
      {isHome ? (
        <Boundary fallback={null}>
          <SuggestionList onFollowed={reload} />
        </Boundary>
      ) : null}
    </>
  )
}

// #region relay-first-page
const firstPage = graphql`
  query TimelineQuery($group: String) { ...Timeline_query @arguments(group: $group, first: 20) }
`
// #endregion
const newsQuery = graphql`
  query TimelineNewsQuery($since: String!, $group: String) {
    timelineNews(since: $since, group: $group) { count hasMore changed pollCursor }
  }
`
const newPosts = graphql`
  query TimelineNewPostsQuery($before: String!, $group: String) {
    timeline(last: 50, before: $before, group: $group) {
      pollCursor
      edges { cursor node { id ...Post_post } }
      pageInfo { hasPreviousPage }
    }
  }
`

// #region relay-prepend
/** Puts the posts of a page in front of the list, in their order, and keeps the poll cursor of the page. */
function prepend(
  store: RecordSourceProxy,
  connectionId: string,
  args: TimelineNewPostsQuery['variables'],
) {
  const connection = store.get(connectionId)
  const page = store.getRoot().getLinkedRecord('timeline', { last: 50, ...args })
  if (!connection || !page) return
  for (const served of page.getLinkedRecords('edges')?.toReversed() ?? []) {
    const edge = ConnectionHandler.buildConnectionEdge(store, connection, served)
    const id = served.getLinkedRecord('node')?.getDataID()
    if (!id || !edge) continue
    ConnectionHandler.deleteNode(connection, id)
    ConnectionHandler.insertEdgeBefore(connection, edge)
  }
  connection.setValue(page.getValue('pollCursor'), 'pollCursor')
}
// #endregion
