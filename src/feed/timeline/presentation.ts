import type { Entry } from '../strategies/strategy.ts'
import type { Projection, TimelineItem } from './page.ts'
import type { PageFacts } from './page-facts.ts'

/** Whether the entries hold all that the page needs, so that no post has to be read for its text. */
export const holdText = (entries: readonly Entry[], projection: Projection): boolean =>
  projection === 'text' && entries.every(({ text }) => text !== undefined)

/** The fourth step of a page: the existing posts of entries, in order, as the page shows them. */
export function presentPosts(
  entries: readonly Entry[],
  { posts }: PageFacts,
  projection: Projection,
): TimelineItem[] {
  const isText = holdText(entries, projection)
  return entries.flatMap(({ id, text }) => {
    const post = posts.get(id)
    return post ? [isText ? { ...post, text } : post] : []
  })
}
