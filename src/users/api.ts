import type { Api } from '../graphql/api.ts'
import { loadedBy, profileFields } from '../graphql/prices.ts'
import { AccountResolver } from './api/account.resolver.ts'
import { CreateUsersResolver } from './api/create-users.resolver.ts'
import { presentUsers, presentViewer } from './api/present-users.ts'
import { UserResolver } from './api/user.resolver.ts'
import { User } from './api/user-type.ts'
import { ViewerResolver } from './api/viewer.resolver.ts'
import { accountsPerTransaction } from './open-accounts.ts'

export const accountsApi = {
  resolvers: [ViewerResolver, UserResolver, AccountResolver, CreateUsersResolver],
  types: [User],
  nodes: {
    Viewer: async (ctx) => (ctx.viewer ? [presentViewer(ctx)] : []),
    User: async (ctx, refs, selection) => {
      const accounts = refs.map(({ account }) => account)
      return (await presentUsers(ctx, accounts, selection)).values()
    },
  },
  prices: {
    loads: {
      // The account, and the blocks that hide it.
      ...loadedBy({ name: 'profile', commands: 2 }, 'User', profileFields),
      ...loadedBy({ name: 'own profile', commands: 1 }, 'Viewer', ['handle']),
      ...loadedBy({ name: 'stats', commands: 2 }, 'User', [
        'followerCount',
        'followingCount',
        'postCount',
      ]),
    },
    existence: {
      User: { load: { name: 'live', commands: 1 }, others: ['profile', 'stats'] },
    },
    fieldCommands: { 'Query.user': 1, 'Query.isHandleAvailable': 2 },
    listSizes: { 'CreateUsersPayload.results': 'INPUT' },
    batches: { 'Mutation.createUsers': { users: accountsPerTransaction, commands: 12 } },
    pageCommands: { 'User.followers': 4, 'User.following': 4, 'User.posts': 3 },
  },
} satisfies Api
