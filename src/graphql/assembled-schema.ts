import {
  type DocumentNode,
  defaultFieldResolver,
  type FragmentDefinitionNode,
  type GraphQLField,
  type GraphQLNamedType,
  GraphQLNonNull,
  type GraphQLObjectType,
  GraphQLScalarType,
  type GraphQLSchema,
  getNamedType,
  isInterfaceType,
  isLeafType,
  isObjectType,
  type OperationDefinitionNode,
  OperationTypeNode,
  type SelectionSetNode,
} from 'graphql'
import { assembleEdges, noteDescribedSchema } from './assemble.ts'

type Field = GraphQLField<unknown, unknown>

/** The result of the field `edges`: plain objects, as they are rendered. */
const assembledEdges = new GraphQLScalarType({ name: 'AssembledEdges' })

/**
 * Changes a copy of the schema that clients see: it assembles the edges of connections from their plain values, in one
 * step for each connection. All other fields are executed as in that schema. It is for operations that
 * {@link canAssemble}.
 */
export function assembleWith(copy: GraphQLSchema, schema: GraphQLSchema): void {
  for (const type of Object.values(copy.getTypeMap())) {
    const edges = isObjectType(type) ? edgesOf(type) : undefined
    if (!edges) continue
    const { type: edgesType } = edges
    edges.resolve = (source, _, context, info) => assembleEdges(source, context, info, edgesType)
    edges.type = new GraphQLNonNull(assembledEdges)
  }
  noteDescribedSchema(copy, schema)
}

/** The field with the edges of a connection type. Undefined for another type. */
const edgesOf = (type: GraphQLObjectType): Field | undefined =>
  type.name.endsWith('Connection') ? type.getFields().edges : undefined

/**
 * Whether an operation selects edges, and below all of them only values that need no resolver. Depends on the document
 * alone, not on its directives or variables.
 */
export function canAssemble(
  schema: GraphQLSchema,
  operation: OperationDefinitionNode,
  { definitions }: DocumentNode,
): boolean {
  const root = schema.getQueryType()
  const fragments = definitions.filter((one) => one.kind === 'FragmentDefinition')
  if (!root || operation.operation !== OperationTypeNode.QUERY) return false
  const search = new EdgesSearch(schema, new Map(fragments.map((one) => [one.name.value, one])))
  return search.isPlain(operation.selectionSet, root, false) && search.hasEdges
}

class EdgesSearch {
  hasEdges = false

  constructor(
    private readonly schema: GraphQLSchema,
    private readonly fragments: ReadonlyMap<string, FragmentDefinitionNode>,
  ) {}

  /**
   * Whether all edges in a selection can be assembled.
   * @param type on which the selection is, the type of the object if it is within edges.
   */
  isPlain({ selections }: SelectionSetNode, type: GraphQLNamedType, isWithin: boolean): boolean {
    return selections.every((selection) => {
      if (selection.kind !== 'Field') {
        const fragment =
          selection.kind === 'FragmentSpread' ? this.fragments.get(selection.name.value) : selection
        const name = fragment?.typeCondition?.name.value
        const condition = name === undefined ? type : this.schema.getType(name)
        if (!fragment || !condition) return false
        const isOfObject = isWithin && isInterfaceType(condition)
        return this.isPlain(fragment.selectionSet, isOfObject ? type : condition, isWithin)
      }
      const { name, alias, selectionSet } = selection
      // It would replace the prototype of an assembled object.
      if ((alias ?? name).value === '__proto__') return false
      if (name.value === '__typename') return true
      // Introspection must not show the copy.
      if (name.value.startsWith('__')) return false
      const field = fieldsOf(type)[name.value]
      if (!field || (isWithin && !isPlainField(field))) return false
      const isEdges = isObjectType(type) && edgesOf(type) === field
      if (isEdges) this.hasEdges = true
      const below = getNamedType(field.type)
      return !selectionSet || this.isPlain(selectionSet, below, isWithin || isEdges)
    })
  }
}

const fieldsOf = (type: GraphQLNamedType): Readonly<Record<string, Field | undefined>> =>
  isObjectType(type) || isInterfaceType(type) ? type.getFields() : {}

/** Whether the value of a field is a property of its object, of a type that needs no further decision. */
function isPlainField({ resolve = defaultFieldResolver, args, type }: Field): boolean {
  const named = getNamedType(type)
  const isKnown = isLeafType(named) || (isObjectType(named) && !named.isTypeOf)
  return resolve === defaultFieldResolver && args.length === 0 && isKnown
}
