import { GraphQLError, type ValidationRule } from 'graphql'

/** Refuses operations of a type that the schema does not have: subscriptions. */
export const knownOperationTypes: ValidationRule = (context) => ({
  OperationDefinition: (node) => {
    if (context.getSchema().getRootType(node.operation)) return
    const message = `The schema has no ${node.operation}s`
    context.reportError(new GraphQLError(message, { nodes: node }))
  },
})
