import {
  type PageArguments,
  reportProblem,
  type Timeline as TimelineList,
  TimelineView,
  useNews,
} from '@feedline/example-ui'
import * as relay from 'react-relay'
import { graphql } from 'react-relay'
import {
  ConnectionHandler,
  type Environment,
  getFragment,
  getSingularSelector,
  type RecordSourceProxy,
} from 'relay-runtime'
import type {
  Timeline_query$data,
  Timeline_query$key,
} from './__generated__/Timeline_query.graphql'
import type { TimelineCreatePostMutation } from './__generated__/TimelineCreatePostMutation.graphql'
import type { TimelineNewsQuery } from './__generated__/TimelineNewsQuery.graphql'
import type { TimelinePageQuery } from './__generated__/TimelinePageQuery.graphql'
import type { TimelineQuery } from './__generated__/TimelineQuery.graphql'
import type { TimelineReadQuery } from './__generated__/TimelineReadQuery.graphql'
import { Boundary, useNextPage, usePageData } from './boundary'
import { useAction } from './environment'
import { readPosts, usePostActions } from './Post'
import { SuggestionList } from './SuggestionList'

const firstPage = graphql`
  query TimelineQuery($group: String) { ...Timeline_query @arguments(group: $group, first: 20) }
`
// #region relay-pagination
const timelineFragment = graphql`
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
`
// #endregion

/** The home timeline or, with a group, the timeline of that group. */
export function Timeline({ group }: { group: string | undefined }) {
  const environment = relay.useRelayEnvironment()
  const query = usePageData<TimelineQuery>(firstPage, { group })
  const list = relay.usePaginationFragment<TimelinePageQuery, Timeline_query$key>(
    timelineFragment,
    query,
  )
  const pages = useNextPage(list, { isFirst: false })
  const { timeline } = list.data
  const news = useNews(environment, group, () => openTimeline(environment, query, group))
  const create = useAction<TimelineCreatePostMutation>(graphql`
    mutation TimelineCreatePostMutation($input: CreatePostInput!, $connections: [ID!]!) {
      createPost(input: $input) {
        timelineEdge @prependEdge(connections: $connections) { cursor node { id ...Post_post } }
        viewer { id user { id postCount } }
      }
    }
  `)
  const publish = async (text: string, clientMutationId: string) => {
    const connections = timeline ? [timeline.__id] : []
    const { createPost } = await create({ text, clientMutationId }, { connections })
    return createPost?.timelineEdge?.node?.id
  }
  // A follow invalidates the store, and its answer may come while this page is open.
  relay.useSubscribeToInvalidationState([], () => {
    relay.fetchQuery(environment, firstPage, { group }).toPromise().catch(reportProblem)
  })
  return (
    <>
      <TimelineView
        {...pages}
        {...usePostActions()}
        group={group}
        news={news}
        posts={readPosts(timeline?.edges)}
        onSend={(...draft) => news.publish(() => publish(...draft))}
      />
      {group === undefined ? (
        <Boundary fallback={null}>
          <SuggestionList />
        </Boundary>
      ) : null}
    </>
  )
}

const newsQuery = graphql`
  query TimelineNewsQuery($since: String!, $group: String) {
    timelineNews(since: $since, group: $group) { count hasMore changed pollCursor }
  }
`
/** It has no connection, so the list in the store stays as it is. */
const readQuery = graphql`
  query TimelineReadQuery(
    $group: String, $first: Int, $after: String, $last: Int, $before: String
  ) {
    timeline(group: $group, first: $first, after: $after, last: $last, before: $before) {
      pollCursor
      edges { cursor node { id ...Post_post } }
      pageInfo { endCursor hasNextPage hasPreviousPage }
    }
  }
`

type Page = NonNullable<TimelineReadQuery['response']['timeline']>

/** A timeline in the store and on the server. */
function openTimeline(
  environment: Environment,
  query: Timeline_query$key,
  group: string | undefined,
): TimelineList<Page> {
  const held = () => {
    const selector = getSingularSelector(getFragment(timelineFragment), query)
    return selector && (environment.lookup(selector).data as Timeline_query$data).timeline
  }
  return {
    held,
    poll: async (since) => {
      const variables = { since, group }
      const poll = relay.fetchQuery<TimelineNewsQuery>(environment, newsQuery, variables)
      return (await poll.toPromise())?.timelineNews
    },
    read: async (args) => {
      const variables = { ...args, group }
      const read = relay.fetchQuery<TimelineReadQuery>(environment, readQuery, variables)
      return (await read.toPromise())?.timeline
    },
    write: (args, page) =>
      relay.commitLocalUpdate(environment, (store) => {
        writePage(store, held()?.__id ?? '', args, page)
      }),
  }
}

/** Puts the posts of a page in front of the list or, without `before`, in its place. */
function writePage(store: RecordSourceProxy, list: string, args: PageArguments, page: Page): void {
  const connection = store.get(list)
  if (!connection) return
  const edges = page.edges.flatMap(({ cursor, node }) => {
    const post = node && store.get(node.id)
    if (!post) return []
    const edge = ConnectionHandler.createEdge(store, connection, post, 'TimelineEdge')
    return edge.setValue(cursor, 'cursor')
  })
  const ids = new Set(page.edges.map(({ node }) => node?.id))
  const older = (connection.getLinkedRecords('edges') ?? []).filter(
    (edge) => !ids.has(edge?.getLinkedRecord('node')?.getDataID()),
  )
  connection.setLinkedRecords(args.before ? [...edges, ...older] : edges, 'edges')
  connection.setValue(page.pollCursor, 'pollCursor')
  if (args.before) return
  const pageInfo = connection.getLinkedRecord('pageInfo')
  pageInfo?.setValue(page.pageInfo.endCursor, 'endCursor')
  pageInfo?.setValue(page.pageInfo.hasNextPage, 'hasNextPage')
}
