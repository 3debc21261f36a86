import type { ApolloServerPlugin } from '@apollo/server'
import { getVariableValues } from 'graphql'
import { badInputs, DomainError } from '../errors.ts'
import type { Context } from './context.ts'
import { costOf, priceOperation } from './cost.ts'
import { acceptEmptyVariables } from './empty-values.ts'
import { requestError } from './errors.ts'
import { limitError, limits } from './limits.ts'
import type { PersistedDocuments } from './persisted-documents.ts'
import type { Charge, RateLimiter } from './rate-limit.ts'
import { findWrongVariables } from './variables.ts'

const noOperation = (name: string | undefined) =>
  new DomainError(
    'OPERATION_RESOLUTION_FAILURE',
    name === undefined
      ? 'Must provide operation name if query contains multiple operations.'
      : `Unknown operation named "${name}".`,
  )

const tooManyMutations = (count: number, max: number) =>
  new DomainError(
    'LIMIT_EXCEEDED',
    `The operation counts as ${count} mutations, above the limit of ${max} per minute. Send fewer at once.`,
    { limit: 'mutations' },
  )

/** The cost of an operation that is refused, of a document that the server had checked before. */
const refusedPrice = 5

/**
 * Refuses an operation whose cost exceeds the limit, including page sizes in variables, or what the
 * rate limits leave to its client. Each response of a valid operation has `extensions.cost`, and
 * `RateLimit-*` headers if there are limits. One command if the operation reads several timelines,
 * because their cost depends on the number of followees, and one if the rate limits are shared. The
 * client is also charged for a document that is stored, and less what it paid for the reading of
 * its document.
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
        /** Charges a refusal, unless the reading of its document was charged. */
        const refuse = async (error: Error): Promise<never> => {
          charge = contextValue.read?.charge
          charge ??= await limiter.charge(contextValue.client, { cost: refusedPrice, mutations: 0 })
          throw charge?.refusal ? requestError(charge.refusal) : error
        }
        // Apollo stores a document whose operation is not refused here.
        if (!operation) return refuse(requestError(noOperation(request.operationName)))
        const definitions = operation.variableDefinitions ?? []
        const variables = acceptEmptyVariables(schema, definitions, request.variables ?? {})
        request.variables = variables
        const { coerced, errors } = getVariableValues(schema, definitions, variables, {
          maxErrors: 1,
        })
        if (errors)
          return refuse(requestError(badInputs(findWrongVariables(schema, definitions, variables))))
        const fragments = document.definitions.filter((one) => one.kind === 'FragmentDefinition')
        const price = priceOperation({ schema, operation, fragments, variables: coerced })
        const followees = price.timelines > 1 ? await contextValue.countFollowees() : 0
        const requested = costOf(price, followees)
        cost = { requested, limit: limits.cost }
        if (requested > limits.cost) {
          const problem = `The cost of the operation is ${requested}, above the limit of ${limits.cost}. Request smaller pages.`
          return refuse(limitError('cost', problem))
        }
        const { mutations } = price
        const mutationsMax = limiter.mutationsMax(contextValue.client)
        if (mutations > mutationsMax)
          return refuse(requestError(tooManyMutations(mutations, mutationsMax)))
        const storing = resolved.metrics.persistedQueryRegister
          ? Math.min(persisted.priceOf(queryHash, source), limits.cost - requested)
          : 0
        const charged = mutations === 0 ? contextValue.state?.chargeOf(requested) : undefined
        const { paid = 0, charge: paidBy } = contextValue.read ?? {}
        charge = charged?.charge ?? paidBy
        const due = Math.max(paid, (charged ? 0 : requested) + storing)
        if ((due > paid || mutations > 0) && !charge?.refusal) {
          charge = await limiter.charge(contextValue.client, { cost: due, mutations, paid })
        }
        if (charge?.refusal) throw requestError(charge.refusal)
        contextValue.rateLimit = charge?.state
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
