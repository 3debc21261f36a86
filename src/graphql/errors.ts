import { AsyncLocalStorage } from 'node:async_hooks'
import type { ApolloServerPlugin } from '@apollo/server'
import { GraphQLError, type GraphQLErrorOptions, type GraphQLFormattedError } from 'graphql'
import { clientErrorOf } from '../db/errors.ts'
import { DomainError, type ErrorCode, errorCodes } from '../errors.ts'
import type { Log } from '../log.ts'
import type { Context } from './context.ts'

/** Codes that GraphQL itself gives to a request; their messages speak of the document, not of the server. */
const ofRequests: ReadonlySet<unknown> = new Set<ErrorCode>([
  'GRAPHQL_PARSE_FAILED',
  'GRAPHQL_VALIDATION_FAILED',
  'OPERATION_RESOLUTION_FAILURE',
  'BAD_REQUEST',
  'BAD_USER_INPUT',
])

const tokenLimit = /more that \d+ tokens/
const selectionLimit = /recursively requests too many selections/
const introspectionRefusal = /^GraphQL introspection is not allowed/
const suggestion = / Did you mean [^?]*\?/g

/** What a client may read of any error: an allowlisted code and message, or nothing but a request id. */
function publicErrorOf(error: unknown, given: GraphQLFormattedError): DomainError {
  const thrown = error instanceof GraphQLError ? (error.originalError ?? error) : error
  if (thrown instanceof DomainError) return thrown
  const { code, limit } = given.extensions ?? {}
  if (typeof limit === 'string') return new DomainError('LIMIT_EXCEEDED', given.message, { limit })
  if (code === 'GRAPHQL_PARSE_FAILED' && tokenLimit.test(given.message)) {
    return new DomainError('LIMIT_EXCEEDED', given.message, { limit: 'tokens' })
  }
  if (selectionLimit.test(given.message)) {
    return new DomainError('LIMIT_EXCEEDED', given.message, { limit: 'selections' })
  }
  if (introspectionRefusal.test(given.message)) {
    return new DomainError('GRAPHQL_VALIDATION_FAILED', 'Introspection is disabled on this server')
  }
  if (ofRequests.has(code)) {
    return new DomainError(code as ErrorCode, given.message.replaceAll(suggestion, ''))
  }
  return (
    clientErrorOf(thrown) ??
    new DomainError('INTERNAL_SERVER_ERROR', 'The server failed. The server log has the details.', {
      cause: thrown,
    })
  )
}

/** The id of the request that is being answered: Apollo refuses some before they have a context. */
export const requestIds = new AsyncLocalStorage<string>()

/** The one place where errors become answers: no stack, driver text or suggestion passes. */
export function formatError(given: GraphQLFormattedError, error: unknown): GraphQLFormattedError {
  const { code, message, details } = publicErrorOf(error, given)
  const requestId = requestIds.getStore()
  return {
    message,
    ...(given.locations ? { locations: given.locations } : {}),
    ...(given.path ? { path: given.path } : {}),
    extensions: {
      code,
      ...(details.argument === undefined ? {} : { argument: details.argument }),
      ...(details.limit === undefined ? {} : { limit: details.limit }),
      ...(requestId === undefined ? {} : { requestId }),
    },
  }
}

/** A DomainError for Apollo to answer the whole request with, under the code's HTTP status. */
export function requestError(error: DomainError): GraphQLError {
  const options: GraphQLErrorOptions = {
    originalError: error,
    extensions: { code: error.code, http: { status: errorCodes[error.code].status } },
  }
  return new GraphQLError(error.message, options)
}

/**
 * Logs the errors that are the server's once.
 * @see https://graphql.github.io/graphql-over-http/draft/ for the status: a client that accepts application/json
 * alone gets 200 for a document that is wrong.
 */
export const errorPlugin = (log: Log): ApolloServerPlugin<Context> => ({
  // Such a request has no context, and nothing below hears of it.
  contextCreationDidFail: async ({ error }) => {
    const { code, details } = publicErrorOf(error, { message: error.message })
    if (errorCodes[code].status < 500) return
    log.error({ requestId: requestIds.getStore(), code, err: details.cause }, 'request failed')
  },
  requestDidStart: async () => ({
    didEncounterErrors: async ({ errors, contextValue, operationName }) => {
      const { requestId } = contextValue
      for (const error of errors) {
        const { code, details } = publicErrorOf(error, error.toJSON())
        if (errorCodes[code].status < 500) continue
        log.error(
          { requestId, operationName, code, path: error.path, err: details.cause },
          'request failed',
        )
      }
    },
    willSendResponse: async ({ request, response }) => {
      const accept = request.http?.headers.get('accept') ?? ''
      if (response.http.status !== 400 || accept.includes('graphql-response+json')) return
      if (response.body.kind !== 'single' || !/application\/json|\*\/\*/.test(accept || '*/*'))
        return
      const errors = response.body.singleResult.errors ?? []
      if (errors.every(({ extensions }) => ofDocuments.has(extensions?.code)))
        response.http.status = 200
    },
  }),
})

const ofDocuments: ReadonlySet<unknown> = new Set<ErrorCode>([
  'GRAPHQL_PARSE_FAILED',
  'GRAPHQL_VALIDATION_FAILED',
  'OPERATION_RESOLUTION_FAILURE',
  'BAD_USER_INPUT',
])
