import {
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLSchema,
  getArgumentValues,
  getNamedType,
  getVariableValues,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
  visit,
} from 'graphql'
import type { UnplannedReason } from '../../metrics/timelines.ts'
import { costOf, priceOperation } from '../cost.ts'
import { acceptEmptyVariables, withoutEmpty } from '../empty-values.ts'
import { limits } from '../limits.ts'
import type { Answer, FieldPlan, PlannedServices, Variables } from './field-plan.ts'
import { type Field, type Scope, Unplanned } from './fields.ts'
import { planNews } from './news-plan.ts'
import { planTimeline } from './timeline-plan.ts'

/** An operation with its variables. */
export interface PreparedOperation {
  /** The field in traces. */
  readonly name: string
  readonly cost: number
  readonly answer: Answer
}

/** How an operation of one field is answered without graphql-js. */
export interface OperationPlan {
  /** Whether graphql-js executes some of its fields. */
  readonly isPartial: boolean
  /** @returns undefined if only graphql-js and its plugins answer such variables. */
  readonly prepare: (
    variables: Variables,
    services: PlannedServices,
  ) => PreparedOperation | undefined
}

/** An operation of a timeline, or of its news, that only graphql-js answers. */
export interface Unplannable {
  readonly unplanned: UnplannedReason
}

/** The fields of Query that have plans. Their arguments are those of their resolvers. */
const planners: Readonly<Record<string, (scope: Scope, field: Field) => FieldPlan<never>>> = {
  timeline: planTimeline,
  timelineNews: planNews,
}

/**
 * Plans an operation of a valid document. @returns undefined if it has none of the fields that have
 * plans.
 */
export function planOperation(
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
): OperationPlan | Unplannable | undefined {
  const fragments = Object.fromEntries(
    document.definitions.flatMap((one) =>
      one.kind === Kind.FRAGMENT_DEFINITION ? [[one.name.value, one] as const] : [],
    ),
  )
  const { selectionSet } = operation
  if (operation.operation !== 'query' || !hasPlanner(selectionSet, fragments)) return undefined
  const [node, ...others] = selectionSet.selections
  const plan = node?.kind === Kind.FIELD && planners[node.name.value]
  if (!plan || others.length > 0) return { unplanned: 'operation' }
  if (hasDirectives(document)) return { unplanned: 'directive' }
  try {
    const variables = operation.variableDefinitions ?? []
    return planOf({ schema, fragments, variables }, operation, node, plan)
  } catch (error) {
    if (error instanceof Unplanned) return { unplanned: 'field' }
    throw error
  }
}

/** Whether a selection on Query has a field that has plans, also within fragments. */
const hasPlanner = (
  { selections }: SelectionSetNode,
  fragments: Readonly<Record<string, FragmentDefinitionNode>>,
): boolean =>
  selections.some((node) => {
    if (node.kind === Kind.FIELD) return Object.hasOwn(planners, node.name.value)
    const fragment = node.kind === Kind.INLINE_FRAGMENT ? node : fragments[node.name.value]
    return fragment !== undefined && hasPlanner(fragment.selectionSet, fragments)
  })

function hasDirectives(document: DocumentNode): boolean {
  let directives = 0
  visit(document, { Directive: () => void directives++ })
  return directives > 0
}

function planOf(
  scope: Scope,
  operation: OperationDefinitionNode,
  node: FieldNode,
  planField: (scope: Scope, field: Field) => FieldPlan<never>,
): OperationPlan {
  const { schema, variables: definitions } = scope
  const name = node.name.value
  const definition = schema.getQueryType()?.getFields()[name]
  if (!definition) throw new Unplanned()
  const key = (node.alias ?? node.name).value
  const type = getNamedType(definition.type)
  const hasArguments = (node.arguments ?? []).length > 0
  const field = planField(scope, { key, name, type, isLeaf: false, hasArguments, nodes: [node] })
  const costs = new CostMemory()
  const begin = `{"data":{${JSON.stringify(key)}:`
  const prepare: OperationPlan['prepare'] = (given, services) => {
    const variables = acceptEmptyVariables(schema, definitions, given)
    const { coerced } = getVariableValues(schema, definitions, variables, { maxErrors: 1 })
    if (!coerced) return undefined
    const args = withoutEmpty(
      definition.args,
      getArgumentValues(definition, node, coerced),
    ) as never
    const cost = costs.costOf(field.decidesCost(args), () => {
      const fragments = Object.values(scope.fragments)
      const price = priceOperation({ schema, operation, fragments, variables: coerced })
      // The cost of several reads depends on the number of followees.
      return price.timelines > 1 ? undefined : costOf(price, 0)
    })
    if (cost === undefined) return undefined
    const end = `},"extensions":{"cost":{"requested":${cost},"limit":${limits.cost}}}}\n`
    const answer = field.prepare(args, services, variables)
    return {
      ...{ name: `Query.${name}`, cost },
      answer: async (ctx, viewer) => {
        const json = await answer(ctx, viewer)
        return json === undefined ? undefined : begin + json + end
      },
    }
  }
  return {
    isPartial: field.isPartial,
    prepare: (given, services) => {
      try {
        return prepare(given, services)
      } catch {
        return undefined
      }
    },
  }
}

/** The costs of a plan by what decides them. */
class CostMemory {
  private readonly costs = new Map<string, number | undefined>()

  costOf(by: readonly unknown[] | undefined, compute: () => number | undefined) {
    if (!by) return compute()
    const key = JSON.stringify(by)
    if (this.costs.has(key)) return this.costs.get(key)
    const cost = compute()
    // A client asks for few sizes.
    if (this.costs.size < 100) this.costs.set(key, cost)
    return cost
  }
}
