import {
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  GraphQLError,
  type GraphQLNamedType,
  type GraphQLOutputType,
  type GraphQLSchema,
  getNamedType,
  isInterfaceType,
  isLeafType,
  isListType,
  isNonNullType,
  isObjectType,
  Kind,
  print,
  SchemaMetaFieldDef,
  type SelectionSetNode,
  TypeMetaFieldDef,
  type ValueNode,
} from 'graphql'

/** A selected field, with the type on which it is selected. */
interface SelectedField {
  readonly node: FieldNode
  readonly parent: GraphQLNamedType
  /** Undefined for `__typename`, `__schema` and `__type`. */
  readonly type: GraphQLOutputType | undefined
}

/** The fields of one name in the answer, by this name. */
type Groups = ReadonlyMap<string, readonly SelectedField[]>

/**
 * Finds two fields that cannot have one name in the answer, as the rule
 * OverlappingFieldsCanBeMerged of graphql-js does. That rule compares each pair of fields. This one
 * compares each field with the first of its group, because all are relations of equivalence within
 * a group, so its time is proportional to the selections after fragments are expanded. The document
 * must be valid otherwise, and its selections limited.
 * @see https://tech.new-work.se/graphql-overlapping-fields-can-be-merged-fast-ea6e92e0a01
 */
export function findConflict(
  schema: GraphQLSchema,
  { definitions }: DocumentNode,
): GraphQLError | undefined {
  const merging = new Merging(
    schema,
    new Map(
      definitions.flatMap((one) =>
        one.kind === 'FragmentDefinition' ? [[one.name.value, one] as const] : [],
      ),
    ),
  )
  for (const definition of definitions) {
    const root =
      definition.kind === 'OperationDefinition' && schema.getRootType(definition.operation)
    if (!root) continue
    const groups = merging.group([[definition.selectionSet, root]])
    const conflict = merging.findShapes(groups) ?? merging.findNames(groups)
    if (conflict) return conflict
  }
  return undefined
}

class Merging {
  /** What two fields of one name must have in common, for fields that were compared. */
  private readonly calls = new WeakMap<FieldNode, string>()

  constructor(
    private readonly schema: GraphQLSchema,
    private readonly fragments: ReadonlyMap<string, FragmentDefinitionNode>,
  ) {}

  /** The fields of selections that are merged, with fragments expanded. */
  group(sets: readonly (readonly [SelectionSetNode, GraphQLNamedType])[]): Groups {
    const groups = new Map<string, SelectedField[]>()
    const spread = new Set<string>()
    const add = ({ selections }: SelectionSetNode, parent: GraphQLNamedType) => {
      for (const node of selections) {
        if (node.kind === 'Field') {
          const name = (node.alias ?? node.name).value
          const fields = groups.get(name) ?? []
          fields.push({ node, parent, type: fieldTypeOf(parent, node.name.value) })
          groups.set(name, fields)
          continue
        }
        const isSpread = node.kind === 'FragmentSpread'
        if (isSpread && spread.has(node.name.value)) continue
        if (isSpread) spread.add(node.name.value)
        const fragment = isSpread ? this.fragments.get(node.name.value) : node
        const condition = fragment?.typeCondition?.name.value
        const type = condition === undefined ? parent : this.schema.getType(condition)
        if (fragment && type) add(fragment.selectionSet, type)
      }
    }
    for (const [set, parent] of sets) add(set, parent)
    return groups
  }

  /** Finds fields of one name whose values have different shapes, whatever the object is. */
  findShapes(groups: Groups): GraphQLError | undefined {
    for (const [name, fields] of groups) {
      const first = fields.find(({ type }) => type !== undefined)
      const other = fields.find(({ type }) => hasOtherShape(first?.type, type))
      if (first && other) {
        const types = `"${first.type}" and "${other.type}"`
        return conflictOf(name, first, other, `they return conflicting types ${types}`)
      }
      const conflict = this.findShapes(this.groupBelow(fields))
      if (conflict) return conflict
    }
    return undefined
  }

  /** Finds fields of one name that are different calls on one object. */
  findNames(groups: Groups): GraphQLError | undefined {
    for (const [name, all] of groups) {
      for (const fields of ofOneObject(all)) {
        const [first] = fields
        const other =
          first && fields.find(({ node }) => this.callOf(node) !== this.callOf(first.node))
        if (other) {
          const [firstField, otherField] = [first.node.name.value, other.node.name.value]
          const reason =
            firstField === otherField
              ? 'they have differing arguments'
              : `"${firstField}" and "${otherField}" are different fields`
          return conflictOf(name, first, other, reason)
        }
        const conflict = this.findNames(this.groupBelow(fields))
        if (conflict) return conflict
      }
    }
    return undefined
  }

  private groupBelow(fields: readonly SelectedField[]): Groups {
    return this.group(
      fields.flatMap(({ node: { name, selectionSet }, type = metaTypes[name.value] }) =>
        selectionSet && type ? [[selectionSet, getNamedType(type)] as const] : [],
      ),
    )
  }

  /** The name and the arguments of a field, in an order of their own. */
  private callOf(node: FieldNode): string {
    const before = this.calls.get(node)
    if (before !== undefined) return before
    const given = (node.arguments ?? []).map(({ name, value }) => `${name.value}: ${textOf(value)}`)
    const call = `${node.name.value}(${given.sort().join(', ')})`
    this.calls.set(node, call)
    return call
  }
}

/** Divides fields by the object that may have them. Those of an interface belong to each object. */
function ofOneObject(fields: readonly SelectedField[]): readonly (readonly SelectedField[])[] {
  const shared = fields.filter(({ parent }) => !isObjectType(parent))
  if (shared.length === fields.length) return [fields]
  const byObject = new Map<GraphQLNamedType, SelectedField[]>()
  for (const field of fields) {
    if (!isObjectType(field.parent)) continue
    const own = byObject.get(field.parent) ?? [...shared]
    own.push(field)
    byObject.set(field.parent, own)
  }
  return [...byObject.values()]
}

/** The types of fields that no type declares. */
const metaTypes: Readonly<Record<string, GraphQLOutputType | undefined>> = {
  __schema: SchemaMetaFieldDef.type,
  __type: TypeMetaFieldDef.type,
}

const fieldTypeOf = (parent: GraphQLNamedType, name: string): GraphQLOutputType | undefined =>
  isObjectType(parent) || isInterfaceType(parent) ? parent.getFields()[name]?.type : undefined

function hasOtherShape(
  type: GraphQLOutputType | undefined,
  other: GraphQLOutputType | undefined,
): boolean {
  if (!type || !other) return false
  if (isListType(type) || isListType(other))
    return !isListType(type) || !isListType(other) || hasOtherShape(type.ofType, other.ofType)
  if (isNonNullType(type) || isNonNullType(other))
    return !isNonNullType(type) || !isNonNullType(other) || hasOtherShape(type.ofType, other.ofType)
  return (isLeafType(type) || isLeafType(other)) && type !== other
}

/** A value as text. The fields of objects are sorted, because their order has no meaning. */
function textOf(value: ValueNode): string {
  if (value.kind === Kind.LIST) return `[${value.values.map(textOf).join(', ')}]`
  if (value.kind !== Kind.OBJECT) return print(value)
  const fields = value.fields.map((field) => `${field.name.value}: ${textOf(field.value)}`)
  return `{${fields.sort().join(', ')}}`
}

const conflictOf = (name: string, field: SelectedField, other: SelectedField, reason: string) =>
  new GraphQLError(
    `Fields "${name}" conflict because ${reason}. Use different aliases on the fields to fetch both if this was intentional.`,
    { nodes: [field.node, other.node] },
  )
