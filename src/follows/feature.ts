import { type Core, defineFeature, shareOfMemory } from '../feature.ts'
import { checkEdges } from '../integrity/invariants/edges.ts'
import type { UserId } from '../lib/ids.ts'
import type { UserStats } from '../users/stats.ts'
import { Admission, Visibility } from '../visibility/visibility.ts'
import { Edges } from './edges.ts'
import { Follows } from './follows.ts'
import { KeptRelations } from './kept-relations.ts'
import { Mutuals } from './mutuals.ts'
import { GraphPurge } from './purge.ts'
import { Restrictions } from './restrictions.ts'
import { Suggestions } from './suggestions.ts'

/** The graph: follows with groups and history, mutes and blocks, followees in common, suggestions. */
export const follows = defineFeature({
  name: 'follows',
  reactions: {},
  create: (core: Core & { readonly stats: UserStats }) => {
    const { config, collections, stats, transactions } = core
    const edges = new Edges(collections, config.following, core.mint)
    const restrictions = new Restrictions({ ...core, edges })
    /** What a viewer may see. Undefined: an anonymous viewer. */
    const visibilityFor = (viewer: UserId | undefined) =>
      new Visibility(viewer, {
        live: (users) => stats.liveAmong(users),
        followed: (users, of) => follows.followeesAmong(of, users),
        restrictions: (users, of) => restrictions.restrictionsFor(of, users),
      })
    const admission = new Admission({
      live: (users, tx) => stats.liveAmong(users, tx),
      restrictions: (pairs, tx) => restrictions.restrictionsBetween(pairs, tx),
    })
    const { followeesMax } = config
    const follows: Follows = new Follows({ ...core, edges, admission, followeesMax })
    return {
      edges,
      restrictions,
      visibilityFor,
      admission,
      follows,
      keptRelations: new KeptRelations({ follows, restrictions, ...shareOfMemory(core, 1 / 8) }),
      mutuals: new Mutuals(edges, follows, visibilityFor),
      suggestions: new Suggestions({ edges, follows, visibilityFor }),
      graph: new GraphPurge(collections, edges, stats, transactions),
    }
  },
  tasks: () => ({}),
  removal: ({ graph }) => ({ edges: (user, removal) => graph.removeUser(user, removal) }),
  invariants: { written: [checkEdges] },
})
