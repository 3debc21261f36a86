import 'reflect-metadata'
import {
  type GraphQLSchema,
  isInputObjectType,
  lexicographicSortSchema,
  printSchema,
} from 'graphql'
import { buildSchemaSync } from 'type-graphql'
import { ignoreEmptyArguments } from './empty-values.ts'
import { AccountResolver } from './resolvers/account.resolver.ts'
import { engagementResolvers } from './resolvers/engagement.resolver.ts'
import { MutualsResolver, SuggestionsResolver } from './resolvers/people.resolver.ts'
import { PostResolver } from './resolvers/post.resolver.ts'
import { QueryResolver } from './resolvers/query.resolver.ts'
import { relationResolvers } from './resolvers/relation.resolver.ts'
import { TimelineResolver } from './resolvers/timeline.resolver.ts'
import { TimelineNewsResolver } from './resolvers/timeline-news.resolver.ts'
import { UserResolver } from './resolvers/user.resolver.ts'
import { ViewerResolver } from './resolvers/viewer.resolver.ts'
import { traceRootFields } from './trace.ts'
import { engagementTypes } from './types/engagement.ts'
import { Post } from './types/post.ts'
import { User } from './types/user.ts'

/** Builds the executable schema. Resolvers have no state: all state is in the context of the request. */
export function createSchema(): GraphQLSchema {
  const schema = buildSchemaSync({
    resolvers: [
      QueryResolver,
      TimelineResolver,
      TimelineNewsResolver,
      ViewerResolver,
      SuggestionsResolver,
      UserResolver,
      MutualsResolver,
      AccountResolver,
      ...relationResolvers,
      PostResolver,
      ...engagementResolvers,
    ],
    orphanedTypes: [User, Post, ...Object.values(engagementTypes).map(({ node }) => node)],
    validate: false,
  })
  // TypeGraphQL creates the root types without descriptions.
  Object.assign(schema.getQueryType() ?? {}, {
    description: 'Queries read data and change nothing.',
  })
  Object.assign(schema.getMutationType() ?? {}, {
    description:
      'Mutations change data as the viewer. Several mutations in one request run one after another.',
  })
  markOneOfInputs(schema)
  ignoreEmptyArguments(schema)
  traceRootFields(schema)
  return schema
}

/** Sets `@oneOf` on inputs with the extension `isOneOf`, which TypeGraphQL does not know. */
function markOneOfInputs(schema: GraphQLSchema): void {
  for (const type of Object.values(schema.getTypeMap())) {
    if (isInputObjectType(type)) type.isOneOf = type.extensions.isOneOf === true
  }
}

/** The sorted schema in SDL, as in schema/schema.graphql. */
export const schemaText = (): string => `${printSchema(lexicographicSortSchema(createSchema()))}\n`
