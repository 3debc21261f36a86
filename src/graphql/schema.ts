import 'reflect-metadata'
import {
  type GraphQLSchema,
  isInputObjectType,
  lexicographicSortSchema,
  printSchema,
} from 'graphql'
import { buildSchemaSync, type NonEmptyArray } from 'type-graphql'
import type { Class } from './api.ts'
import { apis, nodeReaders } from './apis.ts'
import { ignoreEmptyArguments } from './empty-values.ts'
import { mergePrices } from './prices.ts'
import { traceRootFields } from './trace.ts'

/**
 * Builds the executable schema from the APIs of all features. It holds their prices and the readers
 * of their objects as extensions.
 */
export function createSchema(): GraphQLSchema {
  const all = Object.values(apis)
  const schema = buildSchemaSync({
    resolvers: all.flatMap(
      ({ resolvers }) => resolvers,
    ) as readonly Class[] as NonEmptyArray<Class>,
    orphanedTypes: all.flatMap(({ types }) => types),
    validate: false,
  })
  const prices = mergePrices(all.map((api) => api.prices))
  schema.extensions = { ...schema.extensions, prices, nodes: nodeReaders }
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
