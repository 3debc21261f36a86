import { type Core, defineFeature } from '../feature.ts'
import { checkListEntries } from '../integrity/invariants/list-entries.ts'
import { checkPostLists } from '../integrity/invariants/post-lists.ts'
import type { PostId } from '../lib/ids.ts'
import type { KeptPosts } from '../posts/kept-posts.ts'
import type { Posts } from '../posts/posts.ts'
import type { Handles } from '../users/handles.ts'
import type { UserStats } from '../users/stats.ts'
import { type KeptReads, type PairReads, PostAdmission } from '../visibility/visibility.ts'
import { createOverflowing } from './commit-entries.ts'
import { engagedPosts } from './engaged-posts.ts'
import { Engagements } from './engagement.ts'
import type { EngagementKind, KindKeyedBy } from './kinds.ts'
import { listLimits } from './list-limits.ts'
import { OrphanedEngagement, orphanedKind } from './orphaned.ts'
import { EngagementReader } from './reader.ts'
import { EngagementSummaries } from './summaries.ts'
import { UserEngagementIndex } from './user-index.ts'

/** Likes, comments and shares: lists by the outlier pattern, and each user's own entries. */
export const engagement = defineFeature({
  name: 'engagement',
  reactions: { 'engagements.orphaned': orphanedKind },
  create: (
    core: Core & {
      readonly stats: UserStats
      readonly handles: Handles
      readonly pairReads: PairReads
      readonly keptReads: KeptReads
      readonly posts: Posts
      readonly keptPosts: KeptPosts
    },
  ) => {
    const { collections, config } = core
    const limits = listLimits(config.engagement)
    const userIndex = new UserEngagementIndex(collections.engagements_by_user)
    const { posts, keptPosts } = core
    const admission = new PostAdmission(core.pairReads, core.keptReads, {
      stored: (refs, tx) => posts.existing(refs, tx),
      kept: (ref) => keptPosts.get(ref),
    })
    const reader = new EngagementReader(collections)
    return {
      engagements: new Engagements({
        ...{ ...core, limits, reader, userIndex, admission },
        overflowing: createOverflowing(),
      }),
      engagementReader: reader,
      summaries: new EngagementSummaries(collections),
      engagedPosts: (kind: KindKeyedBy<'actor'>) =>
        engagedPosts(kind, { userIndex, reader, posts }),
      orphaned: new OrphanedEngagement(collections.overflow, userIndex),
    }
  },
  lists: ({ engagementReader, engagedPosts }) => ({
    engagements: (kind: EngagementKind) => engagementReader.list(kind),
    engagedPosts,
  }),
  tasks: ({ orphaned }) => ({
    [orphanedKind]: async ({ post }, { signal }) => orphaned.clear(post as PostId, signal),
  }),
  periodic: () => [],
  removal: ({ engagements }) => ({
    rest: async (user, removal) => {
      await engagements.purge(user, removal)
      return undefined
    },
  }),
  invariants: { written: [checkListEntries], counted: [checkPostLists] },
})
