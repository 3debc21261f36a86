import type { ApolloServerPlugin } from '@apollo/server'
import { type DefinitionNode, GraphQLError, Kind, type ValidationRule } from 'graphql'
import type { ErrorCode } from '../errors.ts'
import type { Context } from './context.ts'

const code: ErrorCode = 'GRAPHQL_VALIDATION_FAILED'
const message = 'This server has no subscriptions: poll the query timelineNews instead'

const isSubscription = (node: DefinitionNode): boolean =>
  node.kind === Kind.OPERATION_DEFINITION && node.operation === 'subscription'

/** Refuses subscriptions. The schema has no type for them, and no other operation is without one. */
export const knownOperationTypes: ValidationRule = (context) => ({
  OperationDefinition: (node) => {
    if (isSubscription(node)) context.reportError(new GraphQLError(message, { nodes: node }))
  },
})

/** Answers a document with a subscription with one error. Others would say how to change it. */
export const subscriptionPlugin: ApolloServerPlugin<Context> = {
  requestDidStart: async () => ({
    willSendResponse: async ({ document, response: { body }, contextValue: { requestId } }) => {
      if (!document?.definitions.some(isSubscription) || body.kind !== 'single') return
      body.singleResult.errors = [{ message, extensions: { code, requestId } }]
    },
  }),
}
