import { type Core, defineFeature, shareOfMemory } from '../feature.ts'
import type { Handles } from '../users/handles.ts'
import type { UserStats } from '../users/stats.ts'
import { KeptPosts } from './kept-posts.ts'
import { Posts } from './posts.ts'
import { Tails } from './tails.ts'
import { Tombstones } from './tombstones.ts'

/** Posts: texts with facets, attachments, tombstones of what was liked. */
export const posts = defineFeature({
  name: 'posts',
  reactions: {},
  create: (core: Core & { readonly stats: UserStats; readonly handles: Handles }) => {
    const tombstones = new Tombstones(core.collections.overflow, core.outbox)
    return {
      posts: new Posts({ ...core, tombstones }),
      keptPosts: new KeptPosts(shareOfMemory(core, 1 / 2)),
      tails: new Tails(shareOfMemory(core, 1 / 4)),
    }
  },
  lists: ({ posts }) => ({ posts: (content: boolean) => posts.byAuthor(content) }),
  tasks: () => ({}),
  periodic: () => [],
  removal: ({ posts }) => ({ delivered: (user, removal) => posts.purge(user, removal) }),
  invariants: {},
})
