import type { ConnectionArgs } from './connection.ts'
import type { Selection } from './selection.ts'

/** Whether a selection on a user has only what the version of its account covers. */
const isStableUser = (user: Selection): boolean =>
  !user.beyond('id', 'handle', 'name', 'bio', 'createdAt')

/** Whether a selection on a post has only what never changes, and what the version of its author covers. */
const isStablePost = (post: Selection): boolean =>
  !post.beyond('id', 'text', 'attachments', 'createdAt', 'author') &&
  isStableUser(post.of('author'))

/** Whether the stamp of a page covers all selected fields of a timeline. A probe of `pageInfo` reads other posts. */
export function isStableTimeline(timeline: Selection, { after, before }: ConnectionArgs): boolean {
  const edges = timeline.of('edges')
  const hasProbes =
    (after != null || before != null) &&
    timeline.of('pageInfo').has('hasNextPage', 'hasPreviousPage')
  return (
    !timeline.beyond('edges', 'pageInfo', 'strategy', 'servedBy', 'pollCursor') &&
    !edges.beyond('cursor', 'node') &&
    isStablePost(edges.of('node')) &&
    !hasProbes
  )
}

/** Whether the stamp of a poll covers all selected fields of the news. */
export const isStableNews = (news: Selection): boolean =>
  !news.beyond('count', 'hasMore', 'authors', 'changed', 'pollCursor') &&
  isStableUser(news.of('authors'))
