import { type ApolloServerPlugin, type GraphQLResponse, HeaderMap } from '@apollo/server'
import {
  GraphQLError,
  type GraphQLErrorOptions,
  type GraphQLFormattedError,
  isValueNode,
} from 'graphql'
import { clientErrorOf } from '../db/errors.ts'
import { hasRequestEnded } from '../db/request-time.ts'
import {
  DomainError,
  type ErrorCode,
  type ErrorDetails,
  errorCodes,
  type WrongArgument,
} from '../errors.ts'
import { retryAfterSeconds } from '../http/error-body.ts'
import { mediaTypeOf } from '../http/media-types.ts'
import { release } from '../lib/release.ts'
import type { Log } from '../log.ts'
import { currentScope } from '../request-scope.ts'
import type { Context } from './context.ts'

/**
 * The codes of errors in a client's document or variables. Their messages describe the document,
 * not the server.
 */
const requestErrorCodes: ReadonlySet<unknown> = new Set<ErrorCode>([
  'GRAPHQL_PARSE_FAILED',
  'GRAPHQL_VALIDATION_FAILED',
  'OPERATION_RESOLUTION_FAILURE',
  'BAD_REQUEST',
  'BAD_USER_INPUT',
  'PERSISTED_QUERY_NOT_FOUND',
])

/**
 * The most characters of a message. Messages of graphql-js repeat parts of the request, some in
 * each of 100 errors.
 */
export const messageLengthMax = 400

/**
 * graphql-js ends a message with the names of the schema that it suggests. No regular expression:
 * it may be quadratic.
 */
export function withoutSuggestion(message: string): string {
  const at = message.endsWith('?') ? message.lastIndexOf(' Did you mean ') : -1
  return at < 0 ? message : message.slice(0, at)
}

/** A message of at most {@link messageLengthMax} characters. */
export const shorten = (message: string): string =>
  message.length <= messageLengthMax
    ? message
    : `${message.slice(0, messageLengthMax - 1).toWellFormed()}…`

const shortened = ({ argument, message }: WrongArgument): WrongArgument => ({
  argument,
  message: shorten(message),
})

/**
 * Converts any error to one that a client may read: an allowlisted code and message, or
 * INTERNAL_SERVER_ERROR.
 */
function publicErrorOf(error: unknown, formatted: GraphQLFormattedError): DomainError {
  const thrown = error instanceof GraphQLError ? (error.originalError ?? error) : error
  if (thrown instanceof DomainError) return thrown
  const { code, limit } = formatted.extensions ?? {}
  if (typeof limit === 'string')
    return new DomainError('LIMIT_EXCEEDED', formatted.message, { limit })
  if (requestErrorCodes.has(code)) {
    return new DomainError(code as ErrorCode, withoutSuggestion(formatted.message))
  }
  if (thrown instanceof GraphQLError && isArgumentError(thrown)) {
    const [, argument = ''] = /"([^"]*)"/.exec(thrown.message) ?? []
    const { message } = thrown
    return new DomainError('BAD_USER_INPUT', message, { argument, wrong: [{ argument, message }] })
  }
  return (
    clientErrorOf(thrown) ??
    new DomainError('INTERNAL_SERVER_ERROR', 'The server failed. The server log has the details.', {
      cause: thrown,
    })
  )
}

/**
 * Whether a variable or literal cannot be the value of an argument, such as a null variable with a
 * default.
 */
const isArgumentError = ({ nodes, message }: GraphQLError): boolean =>
  nodes?.every(isValueNode) === true && message.startsWith('Argument "')

/**
 * Formats every error of a response, with the release. Removes stacks, driver messages and
 * suggestions. The request is known from its scope, since Apollo refuses some requests before they
 * have a context.
 */
export function formatError(
  formatted: GraphQLFormattedError,
  error: unknown,
): GraphQLFormattedError {
  const { code, message, details } = publicErrorOf(error, formatted)
  const scope = currentScope()
  if (scope) scope.code ??= code
  const waitSeconds = secondsToWait(code, details)
  return {
    message: shorten(message),
    ...(formatted.locations ? { locations: formatted.locations } : {}),
    ...(formatted.path ? { path: formatted.path } : {}),
    extensions: {
      code,
      ...(details.argument === undefined ? {} : { argument: details.argument }),
      ...(details.wrong ? { arguments: details.wrong.map(shortened) } : {}),
      ...(details.limit === undefined ? {} : { limit: details.limit }),
      ...(waitSeconds === undefined ? {} : { retryAfterSeconds: waitSeconds }),
      ...(scope === undefined ? {} : { requestId: scope.id }),
      release,
    },
  }
}

/** When a client may try again. Undefined: not by itself. */
const secondsToWait = (code: ErrorCode, details: ErrorDetails): number | undefined =>
  details.retryAfterSeconds ?? (code === 'UNAVAILABLE' ? retryAfterSeconds : undefined)

/**
 * The error with which Apollo refuses a whole request, under the HTTP status of its code and with
 * its Retry-After.
 */
export function requestError(error: DomainError): GraphQLError {
  const { code, message, details } = error
  const seconds = secondsToWait(code, details)
  const headers = new HeaderMap(seconds === undefined ? [] : [['retry-after', String(seconds)]])
  // Apollo needs a HeaderMap, and a type of another library a record.
  const http = {
    status: errorCodes[code].status,
    headers: headers as HeaderMap & Record<string, string>,
  }
  const options: GraphQLErrorOptions = { originalError: error, extensions: { code, http } }
  return new GraphQLError(message, options)
}

/**
 * The status of an answer with these errors alone. That of an invalid document is 200 under
 * `application/json`.
 * @see https://graphql.github.io/graphql-over-http/draft/
 */
export function statusOf(errors: readonly GraphQLFormattedError[], accept: string | undefined) {
  const code = errors[0]?.extensions?.code as ErrorCode | undefined
  const isOfDocument = errors.every(({ extensions }) => documentErrorCodes.has(extensions?.code))
  return isOfDocument && mediaTypeOf(accept) === 'application/json'
    ? 200
    : errorCodes[code ?? 'INTERNAL_SERVER_ERROR'].status
}

/**
 * Logs each server error once. Answers an invalid document with status 200 if the client accepts
 * only application/json.
 * @see https://graphql.github.io/graphql-over-http/draft/
 */
export const errorPlugin = (log: Log): ApolloServerPlugin<Context> => ({
  // A request without a context reaches no other hook.
  contextCreationDidFail: async ({ error }) => {
    const { code, details } = publicErrorOf(error, { message: error.message })
    if (errorCodes[code].status < 500 || details.isLogged) return
    log.error({ requestId: currentScope()?.id, code, err: details.cause }, 'request failed')
  },
  requestDidStart: async () => ({
    didEncounterErrors: async ({ errors, contextValue }) => {
      const { requestId } = contextValue
      const operation = currentScope()?.operation
      for (const error of errors) {
        const { code, details } = publicErrorOf(error, error.toJSON())
        if (errorCodes[code].status < 500) continue
        // A request that took too long is logged once. No one waits for another request that has
        // ended.
        if (code === 'UNAVAILABLE' && hasRequestEnded()) continue
        log.error(
          { requestId, operation, code, path: error.path, err: details.cause },
          'request failed',
        )
      }
    },
    willSendResponse: async ({ response, contextValue }) => {
      // Otherwise Apollo chooses one by a header that it does not get.
      response.http.headers.set('content-type', 'application/json; charset=utf-8')
      // Apollo answers an error before the execution with 500 unless the error names a status.
      if (response.http.status === 500 && response.body.kind === 'single') {
        const [first] = response.body.singleResult.errors ?? []
        const code = first?.extensions?.code as ErrorCode | undefined
        if (code) response.http.status = errorCodes[code].status
      }
      if (isUnanswered(response.body)) {
        response.http.status = errorCodes.UNAVAILABLE.status
        response.http.headers.set('retry-after', String(retryAfterSeconds))
        return
      }
      if (response.http.status !== 400 || response.body.kind !== 'single') return
      const { errors = [] } = response.body.singleResult
      response.http.status = statusOf(errors, contextValue.accept)
    },
  }),
})

const documentErrorCodes: ReadonlySet<unknown> = new Set<ErrorCode>([
  'GRAPHQL_PARSE_FAILED',
  'GRAPHQL_VALIDATION_FAILED',
  'OPERATION_RESOLUTION_FAILURE',
  'BAD_USER_INPUT',
])

/** Whether a response holds no data because the database did not answer. */
function isUnanswered(body: GraphQLResponse['body']): boolean {
  if (body.kind !== 'single') return false
  const { data, errors = [] } = body.singleResult
  return (
    errors.length > 0 &&
    errors.every(({ extensions }) => extensions?.code === 'UNAVAILABLE') &&
    Object.values(data ?? {}).every((value) => value === null)
  )
}
