import { type Core, defineFeature } from '../feature.ts'
import type { Edges } from '../follows/edges.ts'
import type { Follows } from '../follows/follows.ts'
import type { Restrictions } from '../follows/restrictions.ts'
import { checkTimelines } from '../integrity/invariants/timelines.ts'
import { checkUnfinishedStrategies } from '../integrity/invariants/unfinished-strategies.ts'
import type { Posts } from '../posts/posts.ts'
import type { UserStats } from '../users/stats.ts'
import { timelineReactions } from './delivery/job-kinds.ts'
import { timelineTasks } from './delivery/tasks.ts'
import { retractUnfinished } from './delivery/unfinished.ts'
import { createFeeds, type FeedParts } from './feeds.ts'

interface Needs extends Core {
  readonly follows: Follows
  readonly posts: Posts
  readonly restrictions: Restrictions
  readonly stats: UserStats
  readonly edges: Edges
  readonly visibilityFor: FeedParts['core']['visibilityFor']
}

/** Timelines: the strategies, what they store, and how posts and follows reach it. */
export const timelines = defineFeature({
  name: 'timelines',
  reactions: timelineReactions,
  create: (core: Needs) => createFeeds({ ...core, core }, core.config.feed),
  tasks: timelineTasks,
  removal: ({ collections, outbox }) => ({
    delivered: (user, removal) =>
      retractUnfinished({ jobs: collections.outbox, outbox }, user, removal),
  }),
  invariants: { derived: [checkUnfinishedStrategies, checkTimelines] },
})
