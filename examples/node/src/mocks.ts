import { ApolloClient, InMemoryCache } from '@apollo/client'
import { SchemaLink } from '@apollo/client/link/schema'
import { addMocksToSchema, type IMocks, relayStylePaginationMock } from '@graphql-tools/mock'
import { makeExecutableSchema } from '@graphql-tools/schema'

/**
 * A client with made-up answers of the right types, for tests and stories of components.
 * @param typeDefs the text of schema/schema.graphql.
 * @param mocks what some types and fields are instead.
 */
export function createMockClient(typeDefs: string, mocks: IMocks = {}): ApolloClient {
  const schema = addMocksToSchema<Record<string, object>>({
    schema: makeExecutableSchema({ typeDefs }),
    mocks: { DateTime: () => '2026-01-31T12:00:00.000Z', ...mocks },
    resolvers: (store) => ({ Query: { timeline: relayStylePaginationMock(store) } }),
  })
  return new ApolloClient({ link: new SchemaLink({ schema }), cache: new InMemoryCache() })
}
