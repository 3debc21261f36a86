import { accountsPerTransaction } from '../../users/open-accounts.ts'
import type { Api } from '../api.ts'
import { loadedBy, profileFields } from '../prices.ts'
import { AccountResolver } from '../resolvers/account.resolver.ts'
import { CreateUsersResolver } from '../resolvers/several.resolver.ts'
import { UserResolver } from '../resolvers/user.resolver.ts'
import { ViewerResolver } from '../resolvers/viewer.resolver.ts'
import { User } from '../types/user.ts'

export const accountsApi: Api = {
  resolvers: [ViewerResolver, UserResolver, AccountResolver, CreateUsersResolver],
  types: [User],
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
    listSizes: { 'CreateUsersPayload.results': 'INPUT' },
    batches: { 'Mutation.createUsers': { users: accountsPerTransaction, commands: 12 } },
    pageCommands: { 'User.followers': 4, 'User.following': 4, 'User.posts': 3 },
  },
}
