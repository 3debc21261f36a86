import { type Core, defineFeature } from '../feature.ts'
import type { Audiences } from '../follows/audiences.ts'
import type { UserStats } from '../users/stats.ts'
import { Posts } from './posts.ts'
import { Tombstones } from './tombstones.ts'

/** Posts: texts with facets, attachments, tombstones of what was liked. */
export const posts = defineFeature({
  name: 'posts',
  reactions: {},
  create: (core: Core & { readonly stats: UserStats; readonly audiences: Audiences }) => {
    const tombstones = new Tombstones(core.collections.overflow, core.outbox)
    return { posts: new Posts({ ...core, tombstones }) }
  },
  tasks: () => ({}),
  removal: ({ posts }) => ({ delivered: (user, removal) => posts.purge(user, removal) }),
  invariants: {},
})
