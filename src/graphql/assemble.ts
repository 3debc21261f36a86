import {
  type FieldNode,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLResolveInfo,
  type GraphQLSchema,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
} from 'graphql'
import { collectSubfields } from 'graphql/execution/collectFields.js'

type Source = Readonly<Record<string, unknown>>

/** Completes a value for the answer. @throws NotAssembled */
type Complete = (value: unknown) => unknown

/** The schema that clients see, of each schema that assembles edges. */
const described = new WeakMap<GraphQLSchema, GraphQLSchema>()

/** Notes the schema that clients see, of a schema that assembles edges. */
export const noteDescribedSchema = (assembled: GraphQLSchema, schema: GraphQLSchema) =>
  described.set(assembled, schema)

/** The schema with the types that clients see, for a schema that executes an operation. */
export const describedSchemaOf = (schema: GraphQLSchema): GraphQLSchema =>
  described.get(schema) ?? schema

/** A value that only graphql-js can complete, such as a promise or a missing value. */
class NotAssembled extends Error {}

/** The contexts of operations with a value that was not assembled. */
const refused = new WeakSet<object>()

/** Whether a value of an operation was not assembled, so that graphql-js must execute it. */
export const wasRefused = (context: object): boolean => refused.has(context)

/**
 * Assembles the selected fields of edges. Directives, fragments and aliases are resolved once for all edges.
 * @throws if a value is not plain. Then {@link wasRefused}.
 */
export function assembleEdges(
  source: unknown,
  context: unknown,
  info: GraphQLResolveInfo,
  type: GraphQLOutputType,
): unknown {
  try {
    return completerOf(type, info.fieldNodes, info)((source as Source).edges)
  } catch (error) {
    refused.add(context as object)
    throw error
  }
}

function completerOf(
  type: GraphQLOutputType,
  nodes: readonly FieldNode[],
  info: GraphQLResolveInfo,
): Complete {
  if (isNonNullType(type)) {
    const complete = completerOf(type.ofType, nodes, info)
    return (value) => complete(value) ?? refuse()
  }
  if (isListType(type)) {
    const complete = completerOf(type.ofType, nodes, info)
    return unlessNull((value) => (Array.isArray(value) ? value.map(complete) : refuse()))
  }
  if (isLeafType(type)) {
    return unlessNull((value) => {
      if (typeof value === 'function') return refuse()
      return type.serialize(value) ?? refuse()
    })
  }
  return isObjectType(type) ? unlessNull(objectCompleter(type, nodes, info)) : refuse()
}

const unlessNull =
  (complete: Complete): Complete =>
  (value) =>
    value === null || value === undefined ? null : complete(value)

function objectCompleter(
  type: GraphQLObjectType,
  nodes: readonly FieldNode[],
  { schema, fragments, variableValues, ...rest }: GraphQLResolveInfo,
): Complete {
  const info = { schema, fragments, variableValues, ...rest }
  const selected = collectSubfields(schema, fragments, variableValues, type, nodes)
  const fields = [...selected].map(([key, some]) => {
    const name = some[0]?.name.value ?? ''
    const field = type.getFields()[name]
    return { key, name, complete: field && completerOf(field.type, some, info) }
  })
  return (value) => {
    if (typeof value !== 'object' || value === null || 'then' in value) return refuse()
    const completed: Record<string, unknown> = {}
    for (const { key, name, complete } of fields) {
      // Of the fields without a definition, only __typename is below edges.
      completed[key] = complete ? complete((value as Source)[name]) : type.name
    }
    return completed
  }
}

const refuse = (): never => {
  throw new NotAssembled()
}
