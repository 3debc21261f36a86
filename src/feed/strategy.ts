import type { PostRef, UserId } from '../lib/ids.ts'
import type { Range } from '../lib/page.ts'

/**
 * Proposes what a reader's timeline may hold. What must be the same for all (who may be seen, refill, order of the
 * page, cursors, hydration) is FeedService's, so a strategy may propose entries that are stale, but at rest it omits
 * none that law L1 demands.
 * @see seed 1
 */
export interface FeedStrategy {
  /**
   * Entries of the range in the order it walks, without repeats; fewer than `range.limit` means its end.
   * @param group reads only what the authors of this group of the reader's posted.
   * @param refused authors whose posts this page turned down before: they need not be proposed again.
   */
  candidates(
    reader: UserId,
    range: Range,
    group: string | undefined,
    refused: ReadonlySet<UserId>,
  ): Promise<readonly PostRef[]>
}
