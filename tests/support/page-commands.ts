import { byStrategy } from '../../src/timeline/strategies/list.ts'

/**
 * The labels of the commands that read the facts of a page whose accounts, posts and relations are
 * in memory.
 */
export const factsReads = {
  withoutCounts: [],
  withCounts: ['read posts'],
}

/** The labels of the commands that read the facts of a page where nothing is kept. */
export const unkeptFactsReads = [
  ...['read following', 'read restrictions', 'read user_stats', 'read users'],
  ...['read strategies', 'read posts'],
]

/** The label of the command that reads a page's entries, by strategy. */
export const entryReads = byStrategy(({ storedForm }) => `read ${storedForm.collection}`)
