import type { Api } from '../graphql/api.ts'
import { loadedBy } from '../graphql/prices.ts'
import { FollowUsersResolver } from './api/follow-users.resolver.ts'
import { MutualsResolver, SuggestionsResolver } from './api/people.resolver.ts'
import { relationResolvers } from './api/relation.resolver.ts'
import { followeesPerTransaction } from './follows.ts'

export const followsApi: Api = {
  resolvers: [SuggestionsResolver, MutualsResolver, ...relationResolvers, FollowUsersResolver],
  types: [],
  nodes: {},
  prices: {
    loads: {
      ...loadedBy({ name: 'viewerFollows', commands: 1 }, 'User', ['viewerFollows']),
      ...loadedBy({ name: 'followsViewer', commands: 1 }, 'User', ['followsViewer']),
      ...loadedBy({ name: 'viewerGroups', commands: 1 }, 'User', ['viewerGroups']),
      ...loadedBy({ name: 'restrictions', commands: 1 }, 'User', [
        'viewerCanFollow',
        'viewerHasMuted',
        'viewerHasBlocked',
      ]),
      ...loadedBy({ name: 'stats', commands: 1 }, 'FollowConnection', ['totalCount']),
    },
    // The follows that a block ends, beyond those of any mutation.
    fieldCommands: { 'Mutation.blockUser': 3 },
    fieldPrices: {
      // Up to 1,000 keys for each user, and as many handles of up to 64 characters, in one reply of
      // at most 16 MB.
      'User.mutuals': 80,
      // Up to 25,000 keys.
      'Viewer.suggestions': 700,
    },
    listSizes: { 'FollowUsersPayload.results': 'INPUT' },
    batches: { 'Mutation.followUsers': { users: followeesPerTransaction, commands: 24 } },
    pageCommands: {
      'User.mutuals': 4,
      'Viewer.mutes': 2,
      'Viewer.blocks': 2,
      'Viewer.groups': 1,
      'Viewer.suggestions': 5,
    },
  },
}
