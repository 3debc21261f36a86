import {
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLNamedType,
  type GraphQLObjectType,
  type GraphQLSchema,
  getNamedType,
  isLeafType,
  isObjectType,
} from 'graphql'
import { collectSubfields } from 'graphql/execution/collectFields.js'

/** A selection that only graphql-js answers. */
export class Unplanned extends Error {}

/** Where a document is planned. It has no directives, so variables decide no field. */
export interface Scope {
  readonly schema: GraphQLSchema
  readonly fragments: Readonly<Record<string, FragmentDefinitionNode>>
}

/** A selected field, in the order of the answer. */
export interface Field {
  readonly key: string
  readonly name: string
  /** The named type of its value. */
  readonly type: GraphQLNamedType
  readonly isLeaf: boolean
  readonly nodes: readonly FieldNode[]
}

/**
 * The fields below a field, in the order in which graphql-js answers them.
 * @throws {Unplanned} if one of them has arguments.
 */
export function fieldsOf({ schema, fragments }: Scope, { type, nodes }: Field): Field[] {
  if (!isObjectType(type)) throw new Unplanned()
  const selected = collectSubfields(schema, { ...fragments }, {}, type, [...nodes])
  return [...selected].map(([key, nodes]) => fieldOf(type, key, nodes))
}

/**
 * The selection below a field as text, without what does not change the answer, such as fragments. Equal texts are
 * answered alike, also of different documents.
 */
export const textOf = (scope: Scope, field: Field): string =>
  fieldsOf(scope, field)
    .map((one) => `${one.key}:${one.name}${one.isLeaf ? '' : `{${textOf(scope, one)}}`}`)
    .join(' ')

function fieldOf(parent: GraphQLObjectType, key: string, nodes: readonly FieldNode[]): Field {
  const name = nodes[0]?.name.value ?? ''
  if (nodes.some((node) => node.arguments && node.arguments.length > 0)) throw new Unplanned()
  const definition = parent.getFields()[name]
  if (name === '__typename') return { key, name, type: parent, isLeaf: true, nodes }
  if (!definition) throw new Unplanned()
  const type = getNamedType(definition.type)
  return { key, name, type, isLeaf: isLeafType(type), nodes }
}
