import {
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLNamedType,
  type GraphQLObjectType,
  type GraphQLSchema,
  getNamedType,
  isLeafType,
  isObjectType,
  type VariableDefinitionNode,
} from 'graphql'
import { collectSubfields } from 'graphql/execution/collectFields.js'

/** A selection that only graphql-js answers. */
export class Unplanned extends Error {}

/** Where a document is planned. It has no directives, so variables decide no field. */
export interface Scope {
  readonly schema: GraphQLSchema
  readonly fragments: Readonly<Record<string, FragmentDefinitionNode>>
  readonly variables: readonly VariableDefinitionNode[]
}

/** A selected field, in the order of the answer. */
export interface Field {
  readonly key: string
  readonly name: string
  /** The named type of its value. */
  readonly type: GraphQLNamedType
  readonly isLeaf: boolean
  readonly hasArguments: boolean
  readonly nodes: readonly FieldNode[]
}

/** The fields below a field, in the order in which graphql-js answers them. */
export function allFieldsOf({ schema, fragments }: Scope, { type, nodes }: Field): Field[] {
  if (!isObjectType(type)) throw new Unplanned()
  const selected = collectSubfields(schema, { ...fragments }, {}, type, [...nodes])
  return [...selected].map(([key, nodes]) => fieldOf(type, key, nodes))
}

/** As {@link allFieldsOf}. @throws {Unplanned} if one of them has arguments. */
export function fieldsOf(scope: Scope, field: Field): Field[] {
  const fields = allFieldsOf(scope, field)
  if (fields.some(({ hasArguments }) => hasArguments)) throw new Unplanned()
  return fields
}

/**
 * A field and the selection below it as text, without what does not change the answer, such as
 * fragments. Equal texts are answered alike, also of different documents.
 */
export function textOf(scope: Scope, field: Field): string {
  const below = field.isLeaf ? [] : fieldsOf(scope, field)
  const text = `${field.key}:${field.name}`
  return field.isLeaf ? text : `${text}{${below.map((one) => textOf(scope, one)).join(' ')}}`
}

function fieldOf(parent: GraphQLObjectType, key: string, nodes: readonly FieldNode[]): Field {
  const name = nodes[0]?.name.value ?? ''
  const hasArguments = nodes.some((node) => node.arguments && node.arguments.length > 0)
  const definition = parent.getFields()[name]
  if (name === '__typename') return { key, name, type: parent, isLeaf: true, hasArguments, nodes }
  if (!definition) throw new Unplanned()
  const type = getNamedType(definition.type)
  return { key, name, type, isLeaf: isLeafType(type), hasArguments, nodes }
}
