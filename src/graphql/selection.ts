import {
  type FieldNode,
  type GraphQLNamedType,
  type GraphQLObjectType,
  type GraphQLResolveInfo,
  getNamedType,
  isAbstractType,
  isObjectType,
} from 'graphql'
import { collectSubfields } from 'graphql/execution/collectFields.js'

/**
 * The selected fields below a field, with fragments, aliases and directives resolved. `__typename`
 * is left out.
 */
export interface Selection {
  /** Whether the field itself is selected, whatever is selected below it. */
  readonly isSelected: boolean
  /** Whether at least one of `names` is selected. */
  has(...names: readonly string[]): boolean
  /** Whether a field other than `names` is selected. */
  beyond(...names: readonly string[]): boolean
  /** The selection below a field, with all aliases of the field merged. */
  of(...path: readonly string[]): Selection
  /** The uses of a field, each with its response key and its own selection. */
  uses(name: string): readonly { readonly key: string; readonly selection: Selection }[]
}

/** The parts of an operation that decide which fields are selected. */
type Scope = Pick<GraphQLResolveInfo, 'schema' | 'fragments' | 'variableValues'>

/** A selected field: its nodes have the same response key. */
interface Use {
  readonly name: string
  readonly key: string
  readonly type: GraphQLNamedType
  readonly nodes: readonly FieldNode[]
}

function selectionFrom(scope: Scope, uses: readonly Pick<Use, 'type' | 'nodes'>[]): Selection {
  const fields = uses.flatMap(({ type, nodes }) =>
    objectTypesOf(scope, type).flatMap((object) => fieldsBelow(scope, object, nodes)),
  )
  const asked = new Set(fields.map(({ name }) => name))
  return {
    isSelected: uses.length > 0,
    has: (...names) => names.some((name) => asked.has(name)),
    beyond: (...names) => [...asked].some((name) => !names.includes(name)),
    of: (name, ...rest) => {
      if (name === undefined) return selectionFrom(scope, uses)
      const below = selectionFrom(
        scope,
        fields.filter((field) => field.name === name),
      )
      return rest.length === 0 ? below : below.of(...rest)
    },
    uses: (name) =>
      fields
        .filter((field) => field.name === name)
        .map((use) => ({ key: use.key, selection: selectionFrom(scope, [use]) })),
  }
}

/** The selected fields of an object, as graphql-js executes them. */
function fieldsBelow(
  { schema, fragments, variableValues }: Scope,
  type: GraphQLObjectType,
  nodes: readonly FieldNode[],
): Use[] {
  const selected = collectSubfields(schema, fragments, variableValues, type, nodes)
  return [...selected].flatMap(([key, fieldNodes]) => {
    const name = fieldNodes[0]?.name.value ?? ''
    const field = type.getFields()[name]
    return field ? [{ name, key, type: getNamedType(field.type), nodes: fieldNodes }] : []
  })
}

const objectTypesOf = ({ schema }: Scope, type: GraphQLNamedType): readonly GraphQLObjectType[] => {
  if (isObjectType(type)) return [type]
  return isAbstractType(type) ? schema.getPossibleTypes(type) : []
}

/** The selection below the field that is being resolved. */
export function selectionOf(info: GraphQLResolveInfo): Selection {
  const { schema, fieldNodes } = info
  const type = schema.getType(getNamedType(info.returnType).name)
  return type ? selectionBelow(info, type, fieldNodes) : selectionFrom(info, [])
}

/** The selection below a field of a type. */
export const selectionBelow = (
  { schema, fragments, variableValues }: Scope,
  type: GraphQLNamedType,
  nodes: readonly FieldNode[],
): Selection => selectionFrom({ schema, fragments, variableValues }, [{ type, nodes }])
