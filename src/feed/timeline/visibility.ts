import { hasBlock } from '../../follows/restrictions.ts'
import type { UserId } from '../../lib/ids.ts'
import type { PageFacts } from './page-facts.ts'

/**
 * The third step of a page: the authors whose posts law L1 keeps out of a timeline.
 * @param group the group of the timeline. Undefined for the home timeline.
 */
export const hiddenAuthors = (
  facts: PageFacts,
  reader: UserId,
  group: string | undefined,
): readonly UserId[] =>
  facts.authors.filter((author) => {
    const restrictions = facts.restrictions.get(author)
    const isHidden =
      restrictions !== undefined && (restrictions.has('MUTE') || hasBlock(restrictions))
    const isShown =
      author === reader ? group === undefined : facts.followed.has(author) && !isHidden
    return !isShown || !facts.live.has(author)
  })
