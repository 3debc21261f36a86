import type { Api } from './api.ts'
import { QueryResolver } from './query.resolver.ts'

/** What belongs to no feature: objects by global id, limits and error codes. */
export const coreApi: Api = {
  resolvers: [QueryResolver],
  types: [],
  nodes: {},
  prices: {
    fieldCommands: {
      // The objects of each type, and the blocks and deletions that hide them.
      'Query.node': 12,
      'Query.nodes': 12,
    },
  },
}
