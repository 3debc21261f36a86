import { byStrategy } from '../../src/feed/strategies/list.ts'

/** The label of the command that reads the page facts, which decide the visibility of posts. */
export const visibilityRead = 'read following, restrictions, user_stats, posts, strategies'

/** The label of the command that reads a page's entries, by strategy. */
export const entryReads = byStrategy(({ storedForm }) => `read ${storedForm.collection}`)
