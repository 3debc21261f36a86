import { hasBlock, type RestrictionKind } from '../follows/restrictions.ts'
import type { UserId } from '../lib/ids.ts'

/**
 * Whether a viewer may read an author's posts: unless there is a block between them. A mute only hides from timelines.
 * @param restrictions between the viewer and the author, from the viewer's side.
 */
export const mayRead = (
  viewer: UserId | undefined,
  author: UserId,
  restrictions: ReadonlySet<RestrictionKind> | null | undefined,
): boolean => viewer === undefined || viewer === author || !restrictions || !hasBlock(restrictions)
