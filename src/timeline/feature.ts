import { type Core, defineFeature } from '../feature.ts'
import { checkTimelines } from '../integrity/invariants/timelines.ts'
import { checkUnfinishedStrategies } from '../integrity/invariants/unfinished-strategies.ts'
import { timelineReactions } from './delivery/job-kinds.ts'
import { timelineTasks } from './delivery/tasks.ts'
import { retractUnfinished } from './delivery/unfinished.ts'
import { createFeeds, type FeedParts } from './feeds.ts'

/** Timelines: the strategies, what they store, and how posts and follows reach it. */
export const timelines = defineFeature({
  name: 'timelines',
  reactions: timelineReactions,
  create: (core: Core & FeedParts['core']) => createFeeds({ ...core, core }, core.config.feed),
  lists: () => ({}),
  tasks: timelineTasks,
  periodic: ({ sweep }) => [
    { kind: 'timelines.sweep', everyMs: 86_400_000, isNeeded: () => sweep.isNeeded() },
  ],
  removal: ({ collections, outbox, delivery }) => ({
    delivered: (user, removal) =>
      retractUnfinished({ jobs: collections.outbox, outbox }, user, removal),
    rest: async (user, { isSettled }) => {
      if (isSettled) await delivery.deleteReader(user)
      return undefined
    },
  }),
  invariants: { derived: [checkUnfinishedStrategies, checkTimelines] },
})
