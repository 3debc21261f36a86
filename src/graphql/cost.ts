import {
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLField,
  GraphQLIncludeDirective,
  type GraphQLNamedType,
  type GraphQLSchema,
  GraphQLSkipDirective,
  getArgumentValues,
  getDirectiveValues,
  getNamedType,
  isInterfaceType,
  isObjectType,
  type OperationDefinitionNode,
  type SelectionNode,
  type SelectionSetNode,
} from 'graphql'
import { pageSizeMax } from '../lib/page.ts'
import { pageSizeDefault } from './connection.ts'
import { withoutEmpty } from './empty-values.ts'
import {
  commandPrice,
  facetValuePrice,
  facetValues,
  fanoutPrice,
  followeesPerPrice,
  type Load,
  mutationCommands,
  type Prices,
  pricesOf,
  valuePrice,
} from './prices.ts'

/** An operation with the fragments of its document and its coerced variables. */
export interface PricedOperation {
  readonly schema: GraphQLSchema
  readonly operation: OperationDefinitionNode
  readonly fragments: readonly FragmentDefinitionNode[]
  readonly variables: Readonly<Record<string, unknown>>
}

/** What an operation costs. */
export interface Price {
  /**
   * The values that the response may hold: for each field, the product of the page sizes above it.
   * A small value counts in part.
   */
  readonly values: number
  /**
   * The commands that the operation may send, without those of FANOUT_ON_READ for further
   * followees.
   */
  readonly commands: number
  /** The number of mutations. One of several users counts once for each. */
  readonly mutations: number
  /** The number of timeline reads that share nothing, among them the probes of `pageInfo`. */
  readonly timelines: number
}

/**
 * The cost of a price.
 * @param followees the number of the viewer's followees.
 */
export const costOf = (
  { values, commands, timelines }: Omit<Price, 'mutations'>,
  followees: number,
): number =>
  Math.ceil(values * valuePrice) +
  commands * commandPrice +
  timelines * Math.floor(followees / followeesPerPrice) * fanoutPrice

/** The prices of operations without variables, which are always the same. */
const fixedPrices = new WeakMap<OperationDefinitionNode, Price>()

/**
 * Prices an operation before it is executed. Keeps the price of an operation without variables as
 * long as its document is kept. Visits each selected field once, after fragments are expanded, so
 * limit the selections first.
 */
export function priceOperation(priced: PricedOperation): Price {
  const { operation } = priced
  if (operation.variableDefinitions?.length) return calculatePrice(priced)
  const price = fixedPrices.get(operation) ?? calculatePrice(priced)
  fixedPrices.set(operation, price)
  return price
}

function calculatePrice(priced: PricedOperation): Price {
  const { schema, operation } = priced
  const root = schema.getRootType(operation.operation)
  const pricing = new Pricing(priced)
  const values = root ? pricing.priceSelection(operation.selectionSet, root) : 0
  const { commands, mutations, timelines } = pricing
  return { values, commands, mutations, timelines: timelines.size }
}

/** A selected field, with the type on which it is selected. */
interface SelectedField {
  readonly node: FieldNode
  readonly type: GraphQLNamedType
}

type Arguments = Readonly<Record<string, unknown>>

class Pricing {
  commands = 0
  mutations = 0
  readonly timelines = new Set<string>()
  /** Number of users of the mutation whose selection is priced. */
  private users = 0
  private readonly fragments: ReadonlyMap<string, FragmentDefinitionNode>
  private readonly prices: Prices

  constructor(private readonly priced: PricedOperation) {
    this.prices = pricesOf(priced.schema)
    this.fragments = new Map(priced.fragments.map((one) => [one.name.value, one]))
  }

  /** Adds the commands of a selection. @returns its number of values for one object. */
  priceSelection(selection: SelectionSetNode, type: GraphQLNamedType): number {
    const needed = new Set<Load>()
    const ofType = new Map<GraphQLNamedType, number>()
    for (const field of this.fieldsOf(selection.selections, type)) {
      const load = this.prices.loads[coordinateOf(field)]
      if (load) needed.add(load)
      ofType.set(field.type, (ofType.get(field.type) ?? 0) + this.priceField(field))
    }
    const exists = this.prices.existence[type.name]
    if (exists && ![...needed].some(({ name }) => exists.others.includes(name)))
      needed.add(exists.load)
    for (const { commands } of needed) this.commands += commands
    // An object has one type, so of the fragments on other types only the largest counts.
    const own = ofType.get(type) ?? 0
    ofType.delete(type)
    return own + Math.max(0, ...ofType.values())
  }

  private priceField(field: SelectedField): number {
    const { node, type } = field
    const definition = fieldsOfType(type)[node.name.value]
    const coordinate = coordinateOf(field)
    const value = facetValues.has(coordinate) ? facetValuePrice : valuePrice
    // __typename, or introspection, which sends no command and has a limit of its own.
    if (!definition) return value / valuePrice
    const values = this.argumentsOf(definition, node)
    const page = this.prices.pageCommands[coordinate]
    const probes = page === undefined ? [] : this.probesOf(node, definition, values)
    if (type === this.priced.schema.getMutationType()) {
      this.commands += mutationCommands
      const batch = this.prices.batches[coordinate]
      this.users = usersOf(values)
      this.mutations += Math.max(1, this.users)
      if (batch) this.commands += batch.commands * Math.ceil(this.users / batch.users)
    }
    this.commands += this.prices.fieldCommands[coordinate] ?? 0
    const sides = ['page', ...probes]
    const isTimeline = coordinate === 'Query.timeline'
    // Each read of a list counts, but the aliases of one timeline share theirs.
    const reads = isTimeline ? this.addTimelines(values, sides) : sides.length
    this.commands += (page ?? 0) * reads
    // Its aliases share no read.
    if (coordinate === 'Query.timelineNews') this.timelines.add(`news ${this.timelines.size}`)
    const below = node.selectionSet
      ? this.priceSelection(node.selectionSet, getNamedType(definition.type))
      : 0
    const own = (value + (this.prices.fieldPrices[coordinate] ?? 0)) / valuePrice
    const listSize = this.prices.listSizes[coordinate] ?? sizeOf(definition, values)
    return own + below * Math.max(1, listSize === 'INPUT' ? this.users : listSize)
  }

  /** Adds the reads of a timeline. @returns how many no other field shares. */
  private addTimelines(given: Arguments, sides: readonly string[]): number {
    const before = this.timelines.size
    for (const side of sides) this.timelines.add(timelineKey(given, side))
    return this.timelines.size - before
  }

  /** The sides of a page on which the selected `pageInfo` needs another read. */
  private probesOf(
    { selectionSet }: FieldNode,
    { type }: GraphQLField<unknown, unknown>,
    { after, before }: Arguments,
  ): readonly string[] {
    if (after == null && before == null) return []
    const below = (set: SelectionSetNode | undefined, on: GraphQLNamedType, name: string) =>
      [...this.fieldsOf(set?.selections ?? [], on)].filter(({ node }) => node.name.value === name)
    const connection = getNamedType(type)
    const infos = below(selectionSet, connection, 'pageInfo')
    const pageInfo = fieldsOfType(connection).pageInfo
    const isSelected = (name: string) =>
      pageInfo !== undefined &&
      infos.some(
        ({ node }) => below(node.selectionSet, getNamedType(pageInfo.type), name).length > 0,
      )
    return [
      ...(after != null && isSelected('hasPreviousPage') ? ['newer'] : []),
      ...(before != null && isSelected('hasNextPage') ? ['older'] : []),
    ]
  }

  /** The fields of a selection with fragments expanded, without those that directives leave out. */
  private *fieldsOf(
    selections: readonly SelectionNode[],
    type: GraphQLNamedType,
  ): Generator<SelectedField> {
    for (const node of selections) {
      if (this.isLeftOut(node)) continue
      if (node.kind === 'Field') {
        yield { node, type }
        continue
      }
      const fragment = node.kind === 'FragmentSpread' ? this.fragments.get(node.name.value) : node
      const condition = fragment?.typeCondition?.name.value
      const on = condition === undefined ? type : this.priced.schema.getType(condition)
      if (fragment && on) yield* this.fieldsOf(fragment.selectionSet.selections, on)
    }
  }

  private isLeftOut(node: SelectionNode): boolean {
    if (!node.directives?.length) return false
    const { variables } = this.priced
    return (
      getDirectiveValues(GraphQLSkipDirective, node, variables)?.if === true ||
      getDirectiveValues(GraphQLIncludeDirective, node, variables)?.if === false
    )
  }

  /**
   * The arguments of a field, as its resolver gets them. None if one is invalid: the field is then
   * not executed.
   */
  private argumentsOf(definition: GraphQLField<unknown, unknown>, node: FieldNode): Arguments {
    try {
      const values = getArgumentValues(definition, node, this.priced.variables)
      return withoutEmpty(definition.args, values)
    } catch {
      return {}
    }
  }
}

const coordinateOf = ({ node, type }: SelectedField) => `${type.name}.${node.name.value}`

const fieldsOfType = (type: GraphQLNamedType) =>
  isObjectType(type) || isInterfaceType(type) ? type.getFields() : {}

/** The same for fields that share the read of a timeline, as `readTimelines` does. */
const timelineKey = ({ strategy, group, after, before, last }: Arguments, side: string): string =>
  JSON.stringify([strategy, group, after, before, last != null, side])

/** The number of users of a mutation of several. */
function usersOf({ input }: Arguments): number {
  const { users } = (input ?? {}) as { readonly users?: unknown }
  return Array.isArray(users) ? users.length : 0
}

/** The number of items of a list. The default for an invalid size, which the resolver refuses. */
function sizeOf({ args, name }: GraphQLField<unknown, unknown>, values: Arguments): number {
  if (args.some((arg) => arg.name === 'first')) {
    const size = values.first ?? values.last
    const isValid = typeof size === 'number' && size >= 0 && size <= pageSizeMax
    return isValid ? size : pageSizeDefault
  }
  return name === 'nodes' && Array.isArray(values.ids) ? values.ids.length : 1
}
