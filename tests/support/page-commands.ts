import { byStrategy } from '../../src/feed/strategies/list.ts'

/** The label of the command that reads what decides whether a post shows. */
export const visibilityRead = 'read following, restrictions, user_stats, posts, strategies'

/** The label of the command that reads a page's entries, by strategy. */
export const entryReads = byStrategy(({ storedForm }) => `read ${storedForm.collection}`)
