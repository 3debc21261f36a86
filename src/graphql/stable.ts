import type { PostRef } from '../lib/ids.ts'
import { type Hole, holeFields } from './answer-template.ts'
import type { ConnectionArgs } from './connection.ts'
import { profileFields } from './prices.ts'
import type { Selection } from './selection.ts'

/** Whether a selection on a user has only what the version of its account covers. */
const isStableUser = (user: Selection): boolean => !user.beyond('id', 'isViewer', ...profileFields)

/** The fields of a post that never change, and its author. */
const stablePostFields = [
  ...['id', 'text', 'facets', 'attachments', 'createdAt', 'viewerCanDelete', 'author'],
]

/**
 * Whether a selection on a post has only what never changes, what the versions of its author and of the users that it
 * mentions cover, and fields that may be holes of a kept answer.
 */
const isStablePost = (post: Selection): boolean =>
  !post.beyond(...stablePostFields, ...holeFields) &&
  isStableUser(post.of('author')) &&
  isStableUser(post.of('facets', 'user'))

/**
 * Whether the stamp of a page, with the users that it mentions, covers all selected fields of a timeline but its holes. A probe of `pageInfo` reads other
 * posts.
 */
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

/**
 * The holes in the answer with a timeline.
 * @param key the response key of the timeline.
 * @param posts of the page, in the order of its edges.
 */
export function holesOf(key: string, timeline: Selection, posts: readonly PostRef[]): Hole[] {
  return timeline.uses('edges').flatMap((edges) =>
    edges.selection.uses('node').flatMap((node) =>
      holeFields.flatMap((field) =>
        node.selection.uses(field).flatMap(({ key: alias }) =>
          posts.map(({ id, author }, at) => ({
            path: [key, edges.key, at, node.key, alias],
            post: { id, author },
            field,
          })),
        ),
      ),
    ),
  )
}

/** Whether the stamp of a poll covers all selected fields of the news. */
export const isStableNews = (news: Selection): boolean =>
  !news.beyond('count', 'hasMore', 'authors', 'changed', 'pollCursor') &&
  isStableUser(news.of('authors'))
