import type { Entry } from '../strategies/strategy.ts'
import type { Projection, TimelineItem } from './page.ts'
import type { PageFacts } from './page-facts.ts'

/** Whether the entries contain everything that the page needs, so that it reads no post for its text. */
export const containText = (entries: readonly Entry[], projection: Projection): boolean =>
  projection === 'text' && entries.every(({ text }) => text !== undefined)

/** The fourth step of a page: the existing posts of entries, in order, as the page shows them. */
export function keepExistingPosts(
  entries: readonly Entry[],
  { posts }: PageFacts,
  projection: Projection,
): TimelineItem[] {
  const isText = containText(entries, projection)
  return entries.flatMap(({ id, text }) => {
    const post = posts.get(id)
    return post ? [isText ? { ...post, text } : post] : []
  })
}
