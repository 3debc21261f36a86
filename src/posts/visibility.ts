import { hasBlock, type RestrictionKind } from '../follows/restrictions.ts'
import type { UserId } from '../lib/ids.ts'

/**
 * Whether a viewer may see what an author posts: everyone may, but those a block stands between.
 * A mute hides from timelines alone.
 * @param between what stands between the two, seen from the viewer.
 */
export const mayRead = (
  viewer: UserId | undefined,
  author: UserId,
  between: ReadonlySet<RestrictionKind> | null | undefined,
): boolean => viewer === undefined || viewer === author || !between || !hasBlock(between)
