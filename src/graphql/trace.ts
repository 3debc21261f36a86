import type { ApolloServerPlugin } from '@apollo/server'
import { defaultFieldResolver, type GraphQLSchema } from 'graphql'
import { operationLabelOf } from '../metrics/requests.ts'
import { currentScope } from '../request-scope.ts'
import { beginOperation, endSpan, inSpan, isTracing } from '../tracing/spans.ts'
import type { Context } from './context.ts'

/** Traces the execution of each operation, by its type and its name from a bounded set. */
export const tracePlugin: ApolloServerPlugin<Context> = {
  requestDidStart: async () => {
    if (!isTracing()) return
    let end = (_error: string | undefined) => {}
    return {
      executionDidStart: async ({ operation: definition, operationName, contextValue }) => {
        // Execution itself refuses a document without the requested operation, and Apollo types it
        // as present.
        const operation = (definition as typeof definition | undefined)?.operation
        if (!operation) return
        const name = operationLabelOf(operationName ?? undefined, contextValue.viewer !== undefined)
        const span = beginOperation(`${operation} ${name}`, {
          'graphql.operation.type': operation,
          'graphql.operation.name': name,
        })
        end = (error) => endSpan(span, error)
      },
      willSendResponse: async () => end(currentScope()?.code),
    }
  },
}

/** Traces each field of Query and Mutation. Other fields belong to their operation. */
export function traceRootFields(schema: GraphQLSchema): void {
  for (const type of [schema.getQueryType(), schema.getMutationType()]) {
    if (!type) continue
    for (const field of Object.values(type.getFields())) {
      const { resolve = defaultFieldResolver } = field
      const name = `${type.name}.${field.name}`
      field.resolve = (...given) => inSpan(name, () => resolve(...given))
    }
  }
}
