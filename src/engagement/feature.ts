import { type Core, defineFeature } from '../feature.ts'
import type { Restrictions } from '../follows/restrictions.ts'
import type { PostId } from '../lib/ids.ts'
import type { UserStats } from '../users/stats.ts'
import { Admission } from './admission.ts'
import { Engagements } from './engagement.ts'
import { likedPosts } from './liked.ts'
import { listLimits } from './list-limits.ts'
import { OrphanedEngagement, orphanedKind } from './orphaned.ts'
import { OutlierLists } from './outlier-lists.ts'
import { EngagementReader } from './reader.ts'
import { EngagementSummaries } from './summaries.ts'
import { UnsureEntries } from './unsure.ts'
import { UserEngagementIndex } from './user-index.ts'

/** Likes, comments and shares: lists by the outlier pattern, and each user's own entries. */
export const engagement = defineFeature({
  name: 'engagement',
  collections: ['overflow', 'engagements_by_user'],
  reactions: { 'engagements.orphaned': orphanedKind },
  create: (core: Core & { readonly stats: UserStats; readonly restrictions: Restrictions }) => {
    const { collections, config, stats, restrictions } = core
    const limits = listLimits(config.engagement)
    const userIndex = new UserEngagementIndex(collections.engagements_by_user)
    const admission = new Admission(userIndex, stats, restrictions)
    const reader = new EngagementReader(collections)
    const unsure = new UnsureEntries(userIndex, reader)
    const lists = new OutlierLists({ ...core, limits, admission, unsure })
    return {
      engagements: new Engagements({ ...core, lists, reader, userIndex, unsure }),
      engagementReader: reader,
      summaries: new EngagementSummaries(collections),
      liked: likedPosts(userIndex, reader),
      orphaned: new OrphanedEngagement(collections.overflow, userIndex),
    }
  },
  tasks: ({ orphaned }) => ({
    [orphanedKind]: async ({ post }, { signal }) => orphaned.clear(post as PostId, signal),
  }),
  removal: ({ engagements }) => ({
    rest: async (user, removal) => {
      await engagements.purge(user, removal)
      return undefined
    },
  }),
})
