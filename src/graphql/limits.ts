import type { ApolloServerPlugin } from '@apollo/server'
import { maxAliasesRule } from '@escape.tech/graphql-armor-max-aliases'
import { maxDepthRule } from '@escape.tech/graphql-armor-max-depth'
import { maxDirectivesRule } from '@escape.tech/graphql-armor-max-directives'
import {
  type DocumentNode,
  GraphQLError,
  type GraphQLSchema,
  getVariableValues,
  type ValidationContext,
} from 'graphql'
import {
  type ComplexityEstimatorArgs,
  getComplexity,
  simpleEstimator,
} from 'graphql-query-complexity'
import { pageSizeMax } from '../lib/page.ts'
import { pageSizeDefault } from './connection.ts'
import type { Context } from './context.ts'

/** The limits of a request. Each is checked before execution. */
export const limits = {
  /** Nested fields. A Relay page of posts with their authors' followers needs eight. */
  depth: 12,
  aliases: 30,
  directives: 30,
  tokens: 2000,
  /** Fields after fragments are expanded. */
  selections: 2000,
  /** The sum over all fields of the product of the page sizes above the field. */
  cost: 10_000,
  bodyBytes: 100_000,
} as const

const limitError = (limit: keyof typeof limits, message: string) =>
  new GraphQLError(message, {
    extensions: { code: 'LIMIT_EXCEEDED', limit, http: { status: 400 } },
  })

const armorOptions = (limit: 'depth' | 'aliases' | 'directives') => ({
  n: limits[limit],
  propagateOnRejection: false,
  onReject: [
    (context: ValidationContext | null) =>
      context?.reportError(
        limitError(limit, `The document exceeds the limit of ${limits[limit]} ${limit}`),
      ),
  ],
})

/** The validation rules of limits that depend only on the document. */
export const limitRules = [
  maxDepthRule({ ...armorOptions('depth'), flattenFragments: true }),
  maxAliasesRule(armorOptions('aliases')),
  maxDirectivesRule(armorOptions('directives')),
]

/** The cost of a field: 1, plus the cost of its selection times its page size. */
function estimateField({
  args,
  childComplexity,
  field,
}: ComplexityEstimatorArgs): number | undefined {
  const size = args.first ?? args.last
  if (field.args.some(({ name }) => name === 'first')) return 1 + childComplexity * pageSize(size)
  if (field.name === 'nodes' && Array.isArray(args.ids))
    return 1 + childComplexity * args.ids.length
  return undefined
}

/** The page size of a field. The default for an invalid size, which the resolver refuses. */
const pageSize = (size: unknown): number =>
  typeof size === 'number' && size >= 0 && size <= pageSizeMax ? size : pageSizeDefault

/** The costs of known documents, by operation and variables. An entry lives as long as Apollo caches its document. */
const costs = new WeakMap<DocumentNode, Map<string, number>>()
/** The most cached costs of a document. */
const costsMax = 100

/** The cost of an operation with these variables. Computed once for repeated operations. */
function costOf(
  schema: GraphQLSchema,
  document: DocumentNode,
  operationName: string | undefined,
  variables: Readonly<Record<string, unknown>>,
): number {
  const known = costs.get(document) ?? new Map<string, number>()
  costs.set(document, known)
  const key = JSON.stringify([operationName, variables])
  const before = known.get(key)
  if (before !== undefined) return before
  const cost = getComplexity({
    schema,
    query: document,
    ...(operationName === undefined ? {} : { operationName }),
    variables,
    estimators: [estimateField, simpleEstimator({ defaultComplexity: 1 })],
  })
  if (known.size >= costsMax) known.clear()
  known.set(key, cost)
  return cost
}

/** Refuses an operation whose cost exceeds the limit, including page sizes in variables. */
export const costPlugin: ApolloServerPlugin<Context> = {
  requestDidStart: async () => ({
    didResolveOperation: async ({ schema, document, operation, request }) => {
      if (!operation) return
      const given = request.variables ?? {}
      const { coerced, errors } = getVariableValues(
        schema,
        operation.variableDefinitions ?? [],
        given,
      )
      // The execution refuses invalid variables and names them.
      if (errors) return
      const cost = costOf(schema, document, operation.name?.value, coerced)
      if (cost <= limits.cost) return
      throw limitError(
        'cost',
        `The cost of the operation is ${cost}, above the limit of ${limits.cost}. Request smaller pages.`,
      )
    },
  }),
}
