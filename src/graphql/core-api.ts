import type { Api } from './api.ts'
import { QueryResolver } from './query.resolver.ts'

/** What belongs to no feature: objects by id, limits and errors. */
export const coreApi: Api = {
  resolvers: [QueryResolver],
  types: [],
  prices: {
    fieldCommands: {
      // The objects of each type, and the blocks and deletions that hide them.
      'Query.node': 12,
      'Query.nodes': 12,
      'Query.post': 3,
      'Query.user': 1,
      'Query.isHandleAvailable': 2,
    },
  },
}
