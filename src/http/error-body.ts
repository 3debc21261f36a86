import type { FastifyRequest } from 'fastify'
import type { ErrorCode } from '../errors.ts'

/** The body of an error response, in the shape of a GraphQL error. */
export const errorBody = (code: ErrorCode, message: string, requestId: string) => ({
  errors: [{ message, extensions: { code, requestId } }],
})

/** The body with which a request is refused. Its code also goes to the log and the metrics. */
export function refusalOf(request: FastifyRequest, code: ErrorCode, message: string) {
  if (request.scope) request.scope.code ??= code
  return errorBody(code, message, request.id)
}

/** How long a client should wait after an answer that asks it to try again, in seconds. */
export const retryAfterSeconds = 1
