import type { ApolloServerOptionsWithGateway } from '@apollo/server'
import {
  type DocumentNode,
  type ExecutionResult,
  execute,
  type GraphQLSchema,
  getOperationAST,
  type OperationDefinitionNode,
} from 'graphql'
import { wasRefused } from './assemble.ts'
import { assembleWith, canAssemble } from './assembled-schema.ts'
import { createSchema } from './schema.ts'

/** What is executed of a valid document. */
export interface Operation {
  readonly document: DocumentNode
  readonly operationName?: string | undefined
  readonly variables: Readonly<Record<string, unknown>> | undefined
}

/** Executes operations on a schema. */
export type Execute = (operation: Operation, context: object) => Promise<ExecutionResult>

/** Executes operations on a schema with graphql-js alone. */
export const createPlainExecute =
  (schema: GraphQLSchema): Execute =>
  async ({ document, operationName, variables }, contextValue) =>
    execute({
      ...{ schema, document, contextValue, variableValues: variables ?? {} },
      operationName: operationName ?? null,
    })

/**
 * Executes operations on a schema with graphql-js, and assembles the edges of connections where they need no resolver.
 * The results are those of graphql-js.
 */
export function createExecute(schema: GraphQLSchema): Execute {
  const copy = createSchema()
  assembleWith(copy, schema)
  const executePlain = createPlainExecute(schema)
  const executeAssembled = createPlainExecute(copy)
  const known = new WeakMap<OperationDefinitionNode, boolean>()
  const isAssembled = ({ document, operationName }: Operation): boolean => {
    const operation = getOperationAST(document, operationName)
    // Execution itself refuses a document without the requested operation.
    if (!operation) return false
    const can = known.get(operation) ?? canAssemble(schema, operation, document)
    known.set(operation, can)
    return can
  }
  return async (asked, context) => {
    if (!isAssembled(asked)) return executePlain(asked, context)
    const result = await executeAssembled(asked, context)
    if (!wasRefused(context)) return result
    const operation = getOperationAST(asked.document, asked.operationName)
    if (operation) known.set(operation, false)
    return executePlain(asked, context)
  }
}

/** A schema and its {@link createExecute} for Apollo's pipeline, to which every executor is a gateway. */
export function createExecutor(
  schema: GraphQLSchema,
): ApolloServerOptionsWithGateway<object>['gateway'] {
  const executeOperation = createExecute(schema)
  return {
    onSchemaLoadOrUpdate: (listener) => {
      listener({ apiSchema: schema, coreSupergraphSdl: '' })
      return () => {}
    },
    load: async () => ({
      executor: async ({ document, request: { operationName, variables }, context }) =>
        executeOperation({ document, operationName, variables }, context),
    }),
    stop: async () => {},
  }
}
