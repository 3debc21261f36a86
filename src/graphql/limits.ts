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

/** What a request may ask for. Each is checked before anything is executed. */
export const limits = {
  /** Fields inside fields; a Relay page of posts with authors' followers takes eight. */
  depth: 12,
  aliases: 30,
  directives: 30,
  tokens: 2000,
  /** Fields after fragments are unfolded. */
  selections: 2000,
  /** One for every field, times the size of the pages it stands in. */
  cost: 10_000,
  bodyBytes: 100_000,
} as const

const limitError = (limit: keyof typeof limits, message: string) =>
  new GraphQLError(message, {
    extensions: { code: 'LIMIT_EXCEEDED', limit, http: { status: 400 } },
  })

const rejecting = (limit: 'depth' | 'aliases' | 'directives') => ({
  n: limits[limit],
  propagateOnRejection: false,
  onReject: [
    (context: ValidationContext | null) =>
      context?.reportError(
        limitError(limit, `The document exceeds the limit of ${limits[limit]} ${limit}`),
      ),
  ],
})

/** Limits that the document alone decides. */
export const limitRules = [
  maxDepthRule({ ...rejecting('depth'), flattenFragments: true }),
  maxAliasesRule(rejecting('aliases')),
  maxDirectivesRule(rejecting('directives')),
]

/** The cost of a field: what is below it, as often as its page can hold it. */
function estimate({ args, childComplexity, field }: ComplexityEstimatorArgs): number | undefined {
  const size = args.first ?? args.last
  if (field.args.some(({ name }) => name === 'first')) return 1 + childComplexity * pageSize(size)
  if (field.name === 'nodes' && Array.isArray(args.ids))
    return 1 + childComplexity * args.ids.length
  return undefined
}

/** A size out of bounds is for the resolver to refuse; it must not make the query look cheap. */
const pageSize = (size: unknown): number =>
  typeof size === 'number' && size >= 0 && size <= pageSizeMax ? size : pageSizeDefault

/** What documents that came before cost, by operation and variables; with a document Apollo forgets, so do we. */
const costs = new WeakMap<DocumentNode, Map<string, number>>()
/** Sets of variables remembered for a document. */
const costsMax = 100

/** What an operation costs with these variables; worked out once for each, where a client repeats itself. */
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
    estimators: [estimate, simpleEstimator({ defaultComplexity: 1 })],
  })
  if (known.size >= costsMax) known.clear()
  known.set(key, cost)
  return cost
}

/** Refuses an operation whose cost, pages multiplied, passes the limit; sizes in variables count. */
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
      // Variables that do not fit are for the execution to refuse, which names them.
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
