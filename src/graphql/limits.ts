import type { ApolloServerPlugin } from '@apollo/server'
import { maxAliasesRule } from '@escape.tech/graphql-armor-max-aliases'
import { maxDepthRule } from '@escape.tech/graphql-armor-max-depth'
import { maxDirectivesRule } from '@escape.tech/graphql-armor-max-directives'
import {
  GraphQLError,
  getVariableValues,
  type ValidationContext,
  type ValidationRule,
} from 'graphql'
import { badInputs, DomainError } from '../errors.ts'
import type { Context } from './context.ts'
import { costOf, priceOperation } from './cost.ts'
import { acceptEmptyVariables } from './empty-values.ts'
import { requestError } from './errors.ts'
import type { PersistedDocuments } from './persisted-documents.ts'
import type { Charge, RateLimiter } from './rate-limit.ts'
import { findWrongVariables } from './variables.ts'

/** The limits of a request. Each is checked before execution. */
export const limits = {
  /** Nested fields. A Relay page of posts with their authors' followers needs eight. */
  depth: 12,
  aliases: 30,
  directives: 30,
  tokens: 2000,
  /** Characters of a name. A response repeats an alias for each item, and errors repeat other names. */
  name: 128,
  /** Fields after fragments are expanded. */
  selections: 2000,
  /** The cost of an operation, see `prices.ts`. */
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

/** Refuses a document with a name that is too long, once. */
const nameLengthRule: ValidationRule = (context) => {
  let isRefused = false
  return {
    Name: ({ value }) => {
      if (isRefused || value.length <= limits.name) return
      isRefused = true
      context.reportError(
        limitError('name', `The document exceeds the limit of ${limits.name} characters of a name`),
      )
    },
  }
}

const noOperation = (name: string | undefined) =>
  new DomainError(
    'OPERATION_RESOLUTION_FAILURE',
    name === undefined
      ? 'Must provide operation name if query contains multiple operations.'
      : `Unknown operation named "${name}".`,
  )

/** The validation rules of limits that depend only on the document. */
export const limitRules = [
  maxDepthRule({ ...armorOptions('depth'), flattenFragments: true }),
  // By default, aliases of __typename do not count.
  maxAliasesRule({ ...armorOptions('aliases'), allowList: [] }),
  maxDirectivesRule(armorOptions('directives')),
  nameLengthRule,
]

/**
 * Refuses an operation whose cost exceeds the limit, including page sizes in variables, or what the rate limits leave to
 * its client. Each response of a valid operation has `extensions.cost`, and `RateLimit-*` headers if there are limits.
 * One command if the operation reads several timelines, because their cost depends on the number of followees, and one
 * if the rate limits are shared. The client is also charged for a document that is stored.
 */
export const costPlugin = (
  limiter: RateLimiter,
  persisted: PersistedDocuments,
): ApolloServerPlugin<Context> => ({
  requestDidStart: async () => {
    let cost: { readonly requested: number; readonly limit: number } | undefined
    let charge: Charge | undefined
    return {
      didResolveOperation: async (resolved) => {
        const { schema, document, operation, request, contextValue, queryHash, source } = resolved
        // Apollo stores a document whose operation is not refused here.
        if (!operation) throw requestError(noOperation(request.operationName))
        const definitions = operation.variableDefinitions ?? []
        const given = acceptEmptyVariables(schema, definitions, request.variables ?? {})
        request.variables = given
        const { coerced, errors } = getVariableValues(schema, definitions, given)
        if (errors) throw requestError(badInputs(findWrongVariables(schema, definitions, given)))
        const fragments = document.definitions.filter((one) => one.kind === 'FragmentDefinition')
        const price = priceOperation({ schema, operation, fragments, variables: coerced })
        const followees = price.timelines > 1 ? await contextValue.countFollowees() : 0
        const requested = costOf(price, followees)
        cost = { requested, limit: limits.cost }
        if (requested > limits.cost) {
          throw limitError(
            'cost',
            `The cost of the operation is ${requested}, above the limit of ${limits.cost}. Request smaller pages.`,
          )
        }
        const storing = resolved.metrics.persistedQueryRegister
          ? Math.min(persisted.priceOf(queryHash, source), limits.cost - requested)
          : 0
        const charged =
          price.mutations === 0 ? contextValue.keeping?.chargeOf(requested) : undefined
        charge = charged?.charge
        const due = (charged ? 0 : requested) + storing
        if (due > 0 && !charge?.refusal) {
          charge = await limiter.charge(contextValue, { cost: due, mutations: price.mutations })
        }
        if (charge?.refusal) throw requestError(charge.refusal)
        contextValue.rateLimit = charge?.state
        contextValue.keeping?.noteCost(requested)
      },
      willSendResponse: async ({ response: { body, http } }) => {
        for (const [name, value] of Object.entries(charge?.headers ?? {}))
          http.headers.set(name, value)
        if (!cost || body.kind !== 'single') return
        body.singleResult.extensions = { ...body.singleResult.extensions, cost }
      },
    }
  },
})
