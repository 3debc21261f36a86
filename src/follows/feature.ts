import { type Core, defineFeature, shareOfMemory } from '../feature.ts'
import { checkEdges } from '../integrity/invariants/edges.ts'
import type { UserId } from '../lib/ids.ts'
import type { KeptAccounts } from '../users/kept-accounts.ts'
import type { UserStats } from '../users/stats.ts'
import {
  FollowAdmission,
  type KeptReads,
  type PairReads,
  Visibility,
} from '../visibility/visibility.ts'
import { Edges } from './edges.ts'
import { Follows } from './follows.ts'
import { KeptRelations } from './kept-relations.ts'
import { KeptRestrictions } from './kept-restrictions.ts'
import { Mutuals } from './mutuals.ts'
import { GraphPurge } from './purge.ts'
import { Restrictions } from './restrictions.ts'
import { Suggestions } from './suggestions.ts'

/**
 * The graph: follows with groups and history, mutes and blocks, followees in common, suggestions.
 */
export const follows = defineFeature({
  name: 'follows',
  reactions: {},
  create: (core: Core & { readonly stats: UserStats; readonly keptAccounts: KeptAccounts }) => {
    const { config, collections, stats, transactions, memory, keptAccounts } = core
    const edges = new Edges(collections, config.following, core.mint)
    const restrictions = new Restrictions({ ...core, edges })
    /** What a viewer may see. Undefined: an anonymous viewer. */
    const visibilityFor = (viewer: UserId | undefined) =>
      new Visibility(viewer, {
        live: (users) => stats.liveAmong(users),
        followed: (users, of) => follows.followeesAmong(of, users),
        restrictions: (users, of) => restrictions.restrictionsFor(of, users),
      })
    const keptRestrictions = new KeptRestrictions({ restrictions, ...shareOfMemory(core, 1 / 32) })
    const pairReads: PairReads = {
      live: (users, tx) => stats.liveAmong(users, tx),
      restrictions: (pairs, tx) => restrictions.restrictionsBetween(pairs, tx),
    }
    const keptReads: KeptReads = {
      isCurrent: () => memory.isCurrent(),
      live: (users) => keptAccounts.loadLive(users),
      restrictions: (viewer) => keptRestrictions.load(viewer),
    }
    const admission = new FollowAdmission(pairReads)
    const { followeesMax } = config
    const follows: Follows = new Follows({ ...core, edges, admission, followeesMax })
    return {
      edges,
      restrictions,
      visibilityFor,
      pairReads,
      keptReads,
      follows,
      keptRelations: new KeptRelations({
        ...{ follows, keptRestrictions },
        ...shareOfMemory(core, 3 / 32),
      }),
      mutuals: new Mutuals(edges, follows, visibilityFor),
      suggestions: new Suggestions({ edges, follows, visibilityFor }),
      graph: new GraphPurge(collections, edges, stats, transactions),
    }
  },
  lists: ({ follows, restrictions }) => ({
    followers: () => follows.followers(),
    following: (group: string | undefined) => follows.following(group),
    restricted: (kind: 'MUTE' | 'BLOCK') => restrictions.list(kind),
  }),
  tasks: () => ({}),
  periodic: () => [],
  removal: ({ graph }) => ({ edges: (user, removal) => graph.removeUser(user, removal) }),
  invariants: { written: [checkEdges] },
})
